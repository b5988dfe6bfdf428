"""Parts shared by the pages: frame, session, forms, job progress and styles."""
