BEGIN TRANSACTION;
CREATE TABLE memories (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        content_hash TEXT UNIQUE NOT NULL,
                        content TEXT NOT NULL,
                        tags TEXT,
                        memory_type TEXT,
                        metadata TEXT,
                        created_at REAL,
                        updated_at REAL,
                        created_at_iso TEXT,
                        updated_at_iso TEXT,
                        deleted_at REAL DEFAULT NULL
                    , store TEXT DEFAULT 'default', parent_id TEXT, version INTEGER DEFAULT 1, confidence REAL DEFAULT 1.0, last_accessed INTEGER, superseded_by TEXT, embedding_pending INTEGER NOT NULL DEFAULT 0);
INSERT INTO "memories" VALUES(1,'532a94799132a1e9884db3d6170f851589ec0592b8b7780a284bed8665c3e981','Anna prefers window seats','anna,chat','note','{"by": "a test"}',1.79583236338799095152e+09,1.79583236338799095152e+09,'2026-11-28T02:19:23.387991Z','2026-11-28T02:19:23.387991Z',NULL,'default',NULL,1,1.0,NULL,NULL,0);
INSERT INTO "memories" VALUES(2,'38128bf4b05543a825d414059e458e30438786a43e1e9eccfd185408fc61dcb4','The wifi password is on the fridge','anna,chat','note','{"by": "a test"}',1.79583236339394640922e+09,1.79583236339394640922e+09,'2026-11-28T02:19:23.393946Z','2026-11-28T02:19:23.393946Z',1.79583236339619421954e+09,'default',NULL,1,1.0,NULL,NULL,0);
INSERT INTO "memories" VALUES(3,'e36660691b6f744cbff09a4df6153fd9b0238e72a06bd272ea0aec9b4dc878e7','Anna lives in Rome','anna,chat','note','{"by": "a test"}',1.79583236339484572413e+09,1.79583236339484572413e+09,'2026-11-28T02:19:23.394846Z','2026-11-28T02:19:23.394846Z',NULL,'default',NULL,1,1.0,NULL,'430079244037c8baa99a64e0f0e9ce623d6a533447e2e78e42c64b5a04af1cf3',0);
INSERT INTO "memories" VALUES(4,'430079244037c8baa99a64e0f0e9ce623d6a533447e2e78e42c64b5a04af1cf3','Anna lives in Porto','anna,chat','note','{"by": "a test"}',1.79583236339549732205e+09,1.79583236339549732205e+09,'2026-11-28T02:19:23.395497Z','2026-11-28T02:19:23.395497Z',NULL,'default',NULL,1,1.0,NULL,NULL,0);
CREATE TABLE memory_graph (
    source_hash TEXT NOT NULL,
    target_hash TEXT NOT NULL,
    similarity REAL NOT NULL,
    connection_types TEXT NOT NULL,  -- JSON array: ["semantic", "temporal", "causal", "thematic"]
    metadata TEXT,                   -- JSON object: {discovery_date, confidence, context}
    created_at REAL NOT NULL, relationship_type TEXT DEFAULT 'related',
    PRIMARY KEY (source_hash, target_hash)
);
INSERT INTO "memory_graph" VALUES('532a94799132a1e9884db3d6170f851589ec0592b8b7780a284bed8665c3e981','430079244037c8baa99a64e0f0e9ce623d6a533447e2e78e42c64b5a04af1cf3',0.4,'["semantic"]','{"by": "a test"}',1.79583236339684891701e+09,'contradicts');
INSERT INTO "memory_graph" VALUES('430079244037c8baa99a64e0f0e9ce623d6a533447e2e78e42c64b5a04af1cf3','532a94799132a1e9884db3d6170f851589ec0592b8b7780a284bed8665c3e981',0.4,'["semantic"]','{"by": "a test"}',1.79583236339684891701e+09,'contradicts');
COMMIT;
