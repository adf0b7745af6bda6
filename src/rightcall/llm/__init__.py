"""The only door to models: endpoints, pace, prices. It knows nothing of graders, traces or the store."""
