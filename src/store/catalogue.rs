//! Every file under `cypher/`, once. `tests/tidy.rs` compares this list with the folder.

use super::statement::{Statement, statement};

macro_rules! catalogue {
    ($($constant:ident = $name:literal;)*) => {
        $(
            #[doc = concat!("`cypher/", $name, ".cypher`")]
            pub static $constant: Statement = statement!($name);
        )*

        /// All of them, in the order of the folder.
        pub static ALL: &[&Statement] = &[$(&$constant),*];
    };
}

catalogue! {
    ATTEMPT_ADOPT = "attempt/adopt";
    ATTEMPT_CLAIM = "attempt/claim";
    ATTEMPT_CLAIMS = "attempt/claims";
    ATTEMPT_FINISH = "attempt/finish";
    ATTEMPT_GUARD = "attempt/guard";
    ATTEMPT_HELD = "attempt/held";
    ATTEMPT_LIST = "attempt/list";
    ATTEMPT_MARKS = "attempt/marks";
    ATTEMPT_OPEN = "attempt/open";
    ATTEMPT_OVERDUE = "attempt/overdue";
    ATTEMPT_REAP = "attempt/reap";
    ATTEMPT_TRIM = "attempt/trim";
    ATTEMPT_UNMARK = "attempt/unmark";
    CLUSTER_AGREE = "cluster/agree";
    CLUSTER_AROUND = "cluster/around";
    CLUSTER_DISSOLVE = "cluster/dissolve";
    CLUSTER_DUE = "cluster/due";
    CLUSTER_FORM = "cluster/form";
    CLUSTER_JOIN = "cluster/join";
    CLUSTER_LEAVE = "cluster/leave";
    CLUSTER_LOOKED = "cluster/looked";
    CLUSTER_READ = "cluster/read";
    CLUSTER_SUSPECT = "cluster/suspect";
    CLUSTER_THRESHOLD = "cluster/threshold";
    COACTIVATION_ACCESSED = "coactivation/accessed";
    COACTIVATION_COUNT = "coactivation/count";
    COACTIVATION_DUE = "coactivation/due";
    COACTIVATION_FIND = "coactivation/find";
    COACTIVATION_KNOWN = "coactivation/known";
    COACTIVATION_RAISE = "coactivation/raise";
    COACTIVATION_UNSEEN = "coactivation/unseen";
    CONFIG_ENSURE = "config/ensure";
    CONFIG_READ = "config/read";
    ENTITY_OPEN = "entity/open";
    IMPORT_ADVANCE = "import/advance";
    IMPORT_GUARD = "import/guard";
    IMPORT_OPEN = "import/open";
    INSPECT_ATTEMPTS = "inspect/attempts";
    INSPECT_CLUSTERS = "inspect/clusters";
    INSPECT_CLUSTERS_GRAPH = "inspect/clusters_graph";
    INSPECT_COACTIVATION = "inspect/coactivation";
    INSPECT_CONFLICTS = "inspect/conflicts";
    INSPECT_EXPIRED = "inspect/expired";
    INSPECT_FADING_SOON = "inspect/fading_soon";
    INSPECT_HEALTH = "inspect/health";
    INSPECT_LAST_RUNS = "inspect/last_runs";
    INSPECT_PROMOTIONS = "inspect/promotions";
    INSPECT_PROMOTIONS_GRAPH = "inspect/promotions_graph";
    INSPECT_QUARANTINE = "inspect/quarantine";
    INSPECT_REINFORCEMENTS = "inspect/reinforcements";
    INSPECT_RELATIONS_BELOW_MINIMUM = "inspect/relations_below_minimum";
    INSPECT_SESSIONS = "inspect/sessions";
    INSPECT_TIERS = "inspect/tiers";
    MEMORY_ADOPT = "memory/adopt";
    MEMORY_AUDIT = "memory/audit";
    MEMORY_CREATE = "memory/create";
    MEMORY_DECAY = "memory/decay";
    MEMORY_FORGET = "memory/forget";
    MEMORY_HEALTH = "memory/health";
    MEMORY_HISTORY = "memory/history";
    MEMORY_LIST = "memory/list";
    MEMORY_LIVE = "memory/live";
    MEMORY_LOCK = "memory/lock";
    MEMORY_MENTION = "memory/mention";
    MEMORY_QUARANTINE = "memory/quarantine";
    MEMORY_READ = "memory/read";
    MEMORY_RELEASE = "memory/release";
    MEMORY_RISEN = "memory/risen";
    MEMORY_STUB = "memory/stub";
    MEMORY_STUB_OF = "memory/stub_of";
    MEMORY_TIERS = "memory/tiers";
    MEMORY_TIMELINE = "memory/timeline";
    MEMORY_TOMBSTONES = "memory/tombstones";
    MEMORY_UNSTAMPED = "memory/unstamped";
    MEMORY_WAITING = "memory/waiting";
    MEMORY_WRITE = "memory/write";
    MIGRATION_DUPLICATES = "migration/duplicates";
    MIGRATION_LIST = "migration/list";
    MIGRATION_RECORD = "migration/record";
    REINFORCEMENT_CORPUS = "reinforcement/corpus";
    REINFORCEMENT_DONE = "reinforcement/done";
    REINFORCEMENT_DRAW = "reinforcement/draw";
    REINFORCEMENT_DUE = "reinforcement/due";
    REINFORCEMENT_KNOWN = "reinforcement/known";
    REINFORCEMENT_NEAREST = "reinforcement/nearest";
    RELATION_ADOPT = "relation/adopt";
    RELATION_ANY = "relation/any";
    RELATION_CREATE = "relation/create";
    RELATION_FADE = "relation/fade";
    RELATION_FOREIGN = "relation/foreign";
    RELATION_LIST = "relation/list";
    RELATION_LOCK = "relation/lock";
    RELATION_WRITE = "relation/write";
    REQUEST_ANSWER = "request/answer";
    REQUEST_OPEN = "request/open";
    REQUEST_TRIM = "request/trim";
    RUN_ASK = "run/ask";
    RUN_CLOSE = "run/close";
    RUN_CREATE = "run/create";
    RUN_GUARD = "run/guard";
    RUN_HISTORY = "run/history";
    RUN_LAST = "run/last";
    RUN_LEAVE = "run/leave";
    RUN_OPEN = "run/open";
    RUN_BACKLOG = "run/backlog";
    RUN_OUTLOOK = "run/outlook";
    RUN_RECEIPT = "run/receipt";
    RUN_CONCERNS = "run/concerns";
    RUN_SURVEY = "run/survey";
    RUN_TAKE = "run/take";
    RUN_TRIM = "run/trim";
    SCHEMA_EMBEDDING = "schema/embedding";
    SCHEMA_V001 = "schema/V001__memory";
    SCHEMA_V002 = "schema/V002__coactivation";
    SCHEMA_V003 = "schema/V003__relation";
    SCRATCH_ADVANCE = "scratch/advance";
    SCRATCH_LOOK = "scratch/look";
    SCRATCH_MARK = "scratch/mark";
    SERVER_ABOUT = "server/about";
    SERVER_PING = "server/ping";
    SERVER_BLOCKERS = "server/blockers";
    SERVER_EMBEDDING = "server/embedding";
    SERVER_SCHEMA = "server/schema";
    SERVER_SETTINGS = "server/settings";
    SERVER_TERMINATE = "server/terminate";
    SESSION_ADOPT = "session/adopt";
    SESSION_END = "session/end";
    SESSION_JOIN = "session/join";
    SESSION_MADE = "session/made";
    SESSION_OPEN = "session/open";
}
