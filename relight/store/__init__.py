"""What a host keeps, read and written through one connection."""
