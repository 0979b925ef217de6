PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE history (
  id           TEXT PRIMARY KEY,
  memory_id    TEXT,
  old_memory   TEXT,
  new_memory   TEXT,
  event        TEXT,
  created_at   DATETIME,
  updated_at   DATETIME,
  is_deleted   INTEGER,
  actor_id     TEXT,
  role         TEXT
  );
INSERT INTO history VALUES('e1d664b1-5a9b-4bf5-945f-f14cbdcd3e31','11111111-2222-4333-8444-555555555555',NULL,'Lives in Rome','ADD','2026-01-01T08:00:00+00:00',NULL,0,NULL,'user');
INSERT INTO history VALUES('f9d8f1d1-5dc5-47c1-8f60-fb5324443615','11111111-2222-4333-8444-555555555555','Lives in Rome','Lives in Turin','UPDATE','2026-01-01T08:00:00+00:00','2026-02-01T08:00:00+00:00',0,NULL,NULL);
INSERT INTO history VALUES('53897046-34e0-42b8-9839-41d05990992c','22222222-2222-4333-8444-555555555555',NULL,'Has a dog','ADD','2026-01-02T08:00:00+00:00',NULL,0,NULL,NULL);
INSERT INTO history VALUES('360a3354-727c-465a-b48d-0d8a7c8c40e4','22222222-2222-4333-8444-555555555555','Has a dog',NULL,'DELETE','2026-01-02T08:00:00+00:00','2026-03-01T08:00:00+00:00',1,NULL,NULL);
CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  session_scope TEXT,
  role TEXT,
  content TEXT,
  name TEXT,
  created_at DATETIME
  );
INSERT INTO messages VALUES('a2a3c59f-6b61-47a8-9677-c4e89d99963a','user_id=anna','user','I moved to Turin.',NULL,'2026-11-27T23:58:24.857549+00:00');
INSERT INTO messages VALUES('0eb03327-c2c1-430b-881c-d9446a83c41d','user_id=anna','assistant','Good to know.',NULL,'2026-11-27T23:58:24.857549+00:00');
COMMIT;
