"""`doctor`: whether a suite can be run as it stands, part by part."""
