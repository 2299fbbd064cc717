-- What version 1 kept of notes goes: it came from an index of files, and the next push brings it.
-- Palaces and grants stay.
DROP TABLE IF EXISTS generation, note, passage, posting, name, link;

CREATE TABLE generation (
    palace int PRIMARY KEY REFERENCES palace ON DELETE CASCADE,
    number int NOT NULL,
    record jsonb NOT NULL,        -- index.commit.Commit without segments; settings, rooms, disputes
    built_by text NOT NULL,
    built_at timestamptz NOT NULL DEFAULT now(),
    notes int NOT NULL,
    passages int NOT NULL,        -- outside the cold zone, without questions
    rows int NOT NULL,
    next_note int NOT NULL,
    sample bytea NOT NULL         -- f4: the vectors that say what a cosine by chance is
);

CREATE TABLE note (
    palace int NOT NULL,
    id int NOT NULL,
    path text COLLATE "C" NOT NULL,
    stamp bytea NOT NULL,         -- digest of all that is stored of the note
    digest bytea NOT NULL,        -- of its file
    figures bytea NOT NULL,       -- store.notes.FIGURES: numbers that a question needs of all notes
    type text NOT NULL,
    tags text NOT NULL,
    record bytea NOT NULL,        -- the other fields of index.writing.NoteRow, as JSON
    keys bytea NOT NULL,          -- what its passages are found by
    vectors bytea NOT NULL,       -- f4, a line for each passage
    text bytea NOT NULL,          -- as it may be shown; no text, since a note may hold a NUL
    PRIMARY KEY (palace, id)
) WITH (toast_tuple_target = 256);  -- what is read of all notes lies together
ALTER TABLE note ALTER keys SET STORAGE EXTERNAL, ALTER vectors SET STORAGE EXTERNAL;

CREATE TABLE passage (
    palace int NOT NULL,
    note int NOT NULL,
    place int NOT NULL,
    -- Before all of variable length: an exact scan finds it without walking over them.
    vector halfvec,
    digest bytea NOT NULL         -- of its text: another builder need not embed it again
) PARTITION BY LIST (palace);
ALTER TABLE passage ALTER vector SET STORAGE MAIN;  -- in the row, which an exact scan reads
CREATE INDEX ON passage (palace, note);
CREATE INDEX ON passage (palace, digest);

CREATE TABLE posting (
    palace int NOT NULL,
    field smallint NOT NULL,
    key bigint NOT NULL,
    block int NOT NULL,
    data bytea NOT NULL,          -- store.lists.ENTRY
    PRIMARY KEY (palace, field, key, block)
);
ALTER TABLE posting ALTER data SET STORAGE EXTERNAL;

-- From here on nothing is looked up where somebody else may put things: the schema of pgvector.
SET LOCAL search_path = memory_palace, pg_temp;

CALL secure('generation');
CALL secure('note');
CALL secure('passage');
CALL secure('posting');

-- Whoever owns the store makes palaces: tables of their own hold their passages. Attached, since
-- CREATE TABLE ... PARTITION OF would wait for every reader of another palace.
CREATE PROCEDURE make_home(of_palace int) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    home text := format('passage_%s', of_palace);
BEGIN
    EXECUTE format('CREATE TABLE %I (LIKE passage INCLUDING STORAGE)', home);
    CALL hush(home::regclass);
    EXECUTE format('ALTER TABLE %I ADD CHECK (palace = %s)', home, of_palace);
    EXECUTE format('ALTER TABLE passage ATTACH PARTITION %I FOR VALUES IN (%s)', home, of_palace);
    -- No policy: of its own accord it shows nothing, to its owner neither.
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', home);
END $$;

CREATE OR REPLACE FUNCTION make_palace(called text) RETURNS int LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT AS $$
DECLARE
    made int;
BEGIN
    INSERT INTO palace (name) VALUES (called) RETURNING id INTO made;
    INSERT INTO member VALUES (made, quote_ident(current_user)::regrole, true);
    CALL make_home(made);
    RETURN made;
END $$;

DO $$
DECLARE
    known int;
BEGIN
    FOR known IN SELECT id FROM palace LOOP
        CALL make_home(known);
    END LOOP;
END $$;

-- Index the vectors of a palace, which only the owner of a table may; the dimension 0 drops the
-- index, before vectors of another embedder come.
CREATE OR REPLACE FUNCTION index_vectors(of_palace int, dimension int) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    theirs text := (SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'vector');
BEGIN
    CALL demand_writer(of_palace);
    IF dimension = 0 THEN
        EXECUTE format('DROP INDEX IF EXISTS %I', format('passage_%s_vector', of_palace));
        RETURN;
    END IF;
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I
        USING hnsw ((vector::%s.halfvec(%s)) %s.halfvec_ip_ops)', format('passage_%s_vector', of_palace),
        format('passage_%s', of_palace), theirs, dimension, theirs);
END $$;

-- Have the tables of a palace counted, which only their owner may: a plan that is made before takes
-- a palace for one row. Always in this order, so that two who push wait for each other and not in
-- a circle.
CREATE OR REPLACE FUNCTION count_rows(of_palace int) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    CALL demand_writer(of_palace);
    ANALYZE note, posting;
    EXECUTE format('ANALYZE %I', format('passage_%s', of_palace));
END $$;

REVOKE ALL ON FUNCTION make_palace, index_vectors, count_rows FROM PUBLIC;
REVOKE ALL ON PROCEDURE make_home FROM PUBLIC;
