-- Token vectors of records, for ranking by late interaction. A row belongs to the vector that the
-- same pass of the model made, and goes with it.

create table token_vectors (
  seq integer primary key references embeddings(seq) on delete cascade,
  vector_version integer not null,
  codes blob not null
) strict;
