"""What users test with: a scripted model, and a model server that fails on purpose."""
