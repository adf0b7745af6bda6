"""`golden` over files: join, grade, count and keep, in input order and bounded memory."""
