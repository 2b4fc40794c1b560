-- What an extraction leaves on every ended session.
update sessions set extracted_at = ended_at where ended_at is not null;
