"""What the pages share: the frame, the session, forms, job progress and the look."""
