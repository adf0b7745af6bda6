"""What people may see and say about what was judged; pure."""
