//! Finding and starting a server, on the real thing: Maven artifacts, Java, and a Docker engine where one
//! runs. Each test has a home folder of its own; the artifacts are shared in the build folder, but for the
//! test of an empty cache.
#![expect(clippy::unwrap_used, reason = "what a helper of a test does not get fails its test")]

mod kept;
mod left;

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ebb_provision::{Config, Endpoint, Error, Keeper, Origin, Server, Way};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard};

/// Servers are heavy: one test at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());
/// How long anything that must happen may take before the test fails.
const LIMIT: Duration = Duration::from_secs(120);
/// Names the home folder for the process that [`a_user_process`] is.
const USER_HOME: &str = "EBB_TEST_USER_HOME";

/// A home folder of its own, removed with its server at the end.
struct Place {
    folder: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Place {
    async fn new() -> Self {
        let turn = ONE_AT_A_TIME.lock().await;
        Self { folder: tempfile::tempdir().unwrap(), _turn: turn }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn config(&self) -> Config {
        config(&self.home())
    }
}

impl Drop for Place {
    /// A test that failed leaves no server behind.
    fn drop(&mut self) {
        if let Some(record) = record(&self.home()) {
            for process in ["keeper_pid", "pid"] {
                kill("KILL", record[process].as_u64().unwrap());
            }
            if let Some(name) = record["container"].as_str() {
                let _ = Command::new("docker").args(["rm", "--force", name]).output();
            }
        }
    }
}

/// A small server in this home.
fn config(home: &Path) -> Config {
    Config {
        uri: None,
        username: "neo4j".to_owned(),
        password: None,
        password_file: None,
        database: "neo4j".to_owned(),
        insecure: false,
        home: home.to_owned(),
        way: Some(Way::Maven),
        image: "neo4j:5.26.31-community".to_owned(),
        bolt_port: 0,
        http_port: 0,
        heap_mb: 512,
        pagecache_mb: 64,
        is_brief: false,
        keep: Duration::ZERO,
        start_timeout: Duration::from_secs(120),
        cache: Some(env!("CARGO_TARGET_TMPDIR").into()),
        java: None,
        mvn: None,
        docker: None,
    }
}

fn keeper() -> Keeper {
    Keeper::of(Path::new(env!("CARGO_BIN_EXE_ebb")))
}

async fn acquire(config: &Config) -> Server {
    ebb_provision::acquire(config, &keeper()).await.unwrap()
}

/// What the keeper wrote down.
fn record(home: &Path) -> Option<Value> {
    serde_json::from_str(&std::fs::read_to_string(home.join("server.json")).ok()?).unwrap()
}

fn kill(signal: &str, pid: u64) {
    Command::new("kill").arg(format!("-{signal}")).arg(pid.to_string()).output().unwrap();
}

/// Whether a process runs; one that ended and was not fetched by its parent does not.
fn runs(pid: u64) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap();
    let state = String::from_utf8(output.stdout).unwrap();
    !state.trim().is_empty() && !state.starts_with('Z')
}

async fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !is() {
        assert!(Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Runs one statement with the endpoint's own user and password and gives the first value.
fn cypher(endpoint: &Endpoint, statement: &str) -> Value {
    let url = format!("{}/db/{}/tx/commit", endpoint.http.as_ref().unwrap(), endpoint.database);
    let login = base64(format!("{}:{}", endpoint.username, endpoint.password.expose_secret()).as_bytes());
    let body = json!({"statements": [{"statement": statement}]});
    let mut answer =
        ureq::post(&url).header("Authorization", &format!("Basic {login}")).send_json(body).unwrap();
    let answer: Value = answer.body_mut().read_json().unwrap();
    assert_eq!(answer["errors"], json!([]));
    answer["results"][0]["data"][0]["row"][0].clone()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = bytes.chunks(3).map(|group| {
        let word = group.iter().fold(0_usize, |word, byte| word << 8 | usize::from(*byte))
            << (8 * (3 - group.len()));
        let letter = |place: usize| char::from(LETTERS[word >> (18 - 6 * place) & 63]);
        (0..4).map(|place| if place <= group.len() { letter(place) } else { '=' }).collect::<String>()
    });
    groups.collect()
}

/// Not a test of its own: what [`a_killed_user_is_no_user`] runs as a process, using a server until it is
/// killed.
#[tokio::test]
#[ignore = "run by another test as a process of its own"]
async fn a_user_process() {
    #[expect(clippy::disallowed_methods, reason = "libtest hands a child nothing but its environment")]
    let home = std::env::var(USER_HOME).expect("run by a_killed_user_is_no_user");
    let _server = acquire(&config(Path::new(&home))).await;
    println!("using");
    std::future::pending::<()>().await;
}

/// Starts [`a_user_process`] and waits until it uses the server.
fn user_process(home: &Path) -> std::process::Child {
    use std::io::BufRead;
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "provision::a_user_process", "--ignored", "--nocapture"]).env(USER_HOME, home);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(
        lines.map_while(Result::ok).any(|line| line.ends_with("using")),
        "the user process never got its server"
    );
    child
}

#[tokio::test]
async fn an_empty_home_and_an_empty_cache_become_two_servers_from_one_download() {
    let place = Place::new().await;
    let cache = place.folder.path().join("cache");
    let one = Config { cache: Some(cache.clone()), ..place.config() };
    let configs = [one.clone(), Config { home: place.folder.path().join("other"), ..one }];
    let keeper = keeper();
    let (one, two) = tokio::join!(
        ebb_provision::acquire(&configs[0], &keeper),
        ebb_provision::acquire(&configs[1], &keeper)
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_ne!(one.endpoint.uri, two.endpoint.uri);
    for server in [&one, &two] {
        assert_eq!(cypher(&server.endpoint, "RETURN 1"), json!(1));
        assert_eq!(server.endpoint.origin, Origin::Maven);
    }
    let released = tokio::join!(one.release(), two.release());
    for (result, config) in [(released.0, &configs[0]), (released.1, &configs[1])] {
        // Java writes its archive of classes at the end, however long that takes on a busy machine.
        assert!(matches!(result, Ok(()) | Err(Error::StillStopping { .. })), "{result:?}");
        while ebb_provision::status(config).await.unwrap().server.is_some() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    let folders: Vec<_> =
        std::fs::read_dir(cache.join("neo4j")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(folders.len(), 1);
    let names = std::fs::read_dir(&folders[0]).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    let [classes, lock, lib] = &names[..] else { panic!("{names:?}") };
    assert!(classes.starts_with("classes-") && classes.ends_with(".jsa"), "{names:?}");
    assert_eq!([lock, lib], ["fetch.lock", "lib"]);
}

#[tokio::test]
async fn two_users_share_one_server_and_the_last_one_ends_it() {
    let place = Place::new().await;
    let config = place.config();
    let first = acquire(&config).await;
    let second = acquire(&config).await;
    assert_eq!(first.endpoint.uri, second.endpoint.uri);
    assert_eq!(first.endpoint.password.expose_secret(), second.endpoint.password.expose_secret());
    let pid = record(&place.home()).unwrap()["pid"].as_u64().unwrap();

    first.release().await.unwrap();
    assert_eq!(cypher(&second.endpoint, "RETURN 2"), json!(2));
    let running = ebb_provision::status(&config).await.unwrap().server.unwrap();
    assert!(running.ready && !running.stay);
    assert_eq!(running.version.as_deref(), Some("5.26.31"));
    assert!(matches!(ebb_provision::wipe(&config).await, Err(Error::Running { .. })));
    if cfg!(target_os = "linux") {
        let said = ebb_provision::stop(&config, false).await.unwrap_err().to_string();
        assert!(said.contains(&format!("(process {})", std::process::id())), "{said}");
    }

    second.release().await.unwrap();
    assert!(!runs(pid));
    assert!(ebb_provision::status(&config).await.unwrap().server.is_none());
    ebb_provision::wipe(&config).await.unwrap();
    assert!(!place.home().exists());
}

/// A folder may have come with a repository: its data is used, and nothing in it is executed or believed.
#[tokio::test]
async fn plugins_and_configuration_that_lie_in_a_home_do_not_count() {
    let place = Place::new().await;
    let (home, linked) = (place.home(), place.folder.path().join("linked"));
    for base in [&home, &linked] {
        for folder in ["plugins", "conf"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        // Neo4j does not start with any of these.
        std::fs::write(base.join("plugins/planted.jar"), "no jar").unwrap();
        std::fs::write(base.join("conf/neo4j.conf"), "no.such.setting=1\n").unwrap();
        std::fs::write(base.join("conf/server-logs.xml"), "no xml").unwrap();
    }
    std::fs::write(home.join(".ebb-managed"), "").unwrap();
    std::os::unix::fs::symlink(&linked, home.join("run")).unwrap();
    let server = acquire(&place.config()).await;
    assert_eq!(cypher(&server.endpoint, "RETURN 1"), json!(1));
    let folder = "SHOW SETTINGS 'server.directories.plugins' YIELD value";
    let plugins = home.canonicalize().unwrap().join("run/plugins");
    assert_eq!(cypher(&server.endpoint, folder), json!(plugins.display().to_string()));
    assert!(home.join("data/databases/neo4j").is_dir() && home.join("logs/debug.log").is_file());
    assert!(linked.join("plugins/planted.jar").is_file() && !home.join("run/plugins/planted.jar").exists());
    server.release().await.unwrap();
}

#[tokio::test]
async fn two_that_start_at_once_get_one_server() {
    let place = Place::new().await;
    let config = place.config();
    let keeper = keeper();
    let (one, two) =
        tokio::join!(ebb_provision::acquire(&config, &keeper), ebb_provision::acquire(&config, &keeper));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(one.endpoint.uri, two.endpoint.uri);
    assert_eq!(cypher(&two.endpoint, "RETURN 1"), json!(1));
    let (one, two) = tokio::join!(one.release(), two.release());
    one.unwrap();
    two.unwrap();
    assert!(ebb_provision::status(&config).await.unwrap().server.is_none());
}

#[tokio::test]
async fn a_killed_user_is_no_user() {
    let place = Place::new().await;
    let mut user = user_process(&place.home());
    let server = record(&place.home()).unwrap();
    user.kill().unwrap();
    user.wait().unwrap();
    for process in ["pid", "keeper_pid"] {
        eventually("server and keeper are gone", || !runs(server[process].as_u64().unwrap())).await;
    }
    assert!(record(&place.home()).is_none());
}

#[tokio::test]
async fn a_killed_keeper_costs_a_restart_and_no_data() {
    let place = Place::new().await;
    let config = place.config();
    let first = acquire(&config).await;
    cypher(&first.endpoint, "CREATE (:Kept {n: 42})");
    let server = record(&place.home()).unwrap();
    kill("KILL", server["keeper_pid"].as_u64().unwrap());
    eventually("the keeper is gone", || !runs(server["keeper_pid"].as_u64().unwrap())).await;
    // Its lock is not free at the same moment.
    let deadline = Instant::now() + LIMIT;
    while ebb_provision::status(&config).await.unwrap().server.unwrap().keeper_pid.is_some() {
        assert!(Instant::now() < deadline, "the lock stays");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(runs(server["pid"].as_u64().unwrap()));

    let second = acquire(&config).await;
    assert!(!runs(server["pid"].as_u64().unwrap()));
    assert_eq!(cypher(&second.endpoint, "MATCH (k:Kept) RETURN k.n"), json!(42));
    assert_eq!(
        first.endpoint.uri, second.endpoint.uri,
        "those who used the old one find the new one in its place"
    );

    // Nobody comes after this kill: the last user to leave ends what is left over.
    let server = record(&place.home()).unwrap();
    kill("KILL", server["keeper_pid"].as_u64().unwrap());
    eventually("the keeper is gone", || !runs(server["keeper_pid"].as_u64().unwrap())).await;
    second.release().await.unwrap();
    assert!(runs(server["pid"].as_u64().unwrap()));
    first.release().await.unwrap();
    assert!(!runs(server["pid"].as_u64().unwrap()));
}

#[tokio::test]
async fn a_killed_server_comes_back_with_its_data() {
    let place = Place::new().await;
    let config = place.config();
    let first = acquire(&config).await;
    cypher(&first.endpoint, "UNWIND range(1, 10000) AS n CREATE (:Kept {n: n})");
    let server = record(&place.home()).unwrap();
    kill("KILL", server["pid"].as_u64().unwrap());
    eventually("the keeper leaves", || record(&place.home()).is_none()).await;

    let second = acquire(&config).await;
    assert_eq!(cypher(&second.endpoint, "MATCH (k:Kept) RETURN count(k)"), json!(10000));
    let debug = std::fs::read_to_string(place.home().join("logs/debug.log")).unwrap();
    assert!(
        debug.contains("Recovery required") && debug.contains("Recovery completed"),
        "the phrases that are waited on"
    );
    drop(first);
    second.release().await.unwrap();
    assert!(ebb_provision::status(&config).await.unwrap().server.is_none());
}

#[tokio::test]
async fn a_server_that_stays_outlives_its_users_until_it_is_told() {
    let place = Place::new().await;
    let config = place.config();
    assert!(!ebb_provision::stop(&config, false).await.unwrap());
    let user = acquire(&config).await;
    let endpoint = ebb_provision::start(&config, &keeper()).await.unwrap();
    assert_eq!(endpoint.uri, user.endpoint.uri);
    user.release().await.unwrap();
    let again = acquire(&config).await;
    assert_eq!(again.endpoint.uri, endpoint.uri);
    again.release().await.unwrap();
    let running = ebb_provision::status(&config).await.unwrap().server.unwrap();
    assert!(running.stay && running.ready);
    let pid = u64::from(running.pid);
    assert!(ebb_provision::stop(&config, false).await.unwrap());
    assert!(!runs(pid));
    assert!(ebb_provision::status(&config).await.unwrap().server.is_none());

    let user = acquire(&config).await;
    assert!(ebb_provision::stop(&config, true).await.unwrap(), "force stops it under its users");
    user.release().await.unwrap();
}

#[tokio::test]
async fn an_unused_server_stays_for_the_stated_time_after_its_last_use() {
    let place = Place::new().await;
    let config = Config { keep: Duration::from_secs(600), ..place.config() };
    acquire(&config).await.release().await.unwrap();
    let unused = async || ebb_provision::status(&config).await.unwrap().server.unwrap();
    let server = unused().await;
    assert!(server.ready && !server.stay && server.keep_seconds == 600);
    assert!((1..=600).contains(&server.seconds_left.unwrap()));

    let again = acquire(&config).await;
    assert_eq!(again.endpoint.uri, server.uri, "the next user finds it");
    assert_eq!(unused().await.seconds_left, None, "it does not end under a user");
    again.release().await.unwrap();

    // The last use is as long ago as the file of the users says.
    let users = place.home().join("in-use.lock");
    let old = Command::new("touch").args(["-d", "9 minutes ago"]).arg(&users).status().unwrap();
    assert!(old.success());
    assert!((1..=60).contains(&unused().await.seconds_left.unwrap()));
    assert!(ebb_provision::stop(&config, false).await.unwrap(), "an unused one is stopped at once");
    assert!(!runs(u64::from(server.pid)));

    // One with a second to live ends by itself.
    let short = Config { keep: Duration::from_secs(1), ..config.clone() };
    acquire(&short).await.release().await.unwrap();
    eventually("the server ended", || record(&place.home()).is_none()).await;
}

#[tokio::test]
async fn a_stated_port_that_is_taken_is_an_error_and_an_unstated_one_moves() {
    let place = Place::new().await;
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    for config in [Config { bolt_port: port, ..place.config() }, Config { http_port: port, ..place.config() }]
    {
        let error = ebb_provision::acquire(&config, &keeper()).await.unwrap_err();
        assert!(matches!(error, Error::PortTaken { port: named, .. } if named == port), "{error}");
    }
    let usual = TcpListener::bind((Ipv4Addr::LOCALHOST, 7687));
    let server = acquire(&place.config()).await;
    assert_ne!(server.endpoint.uri, "bolt://127.0.0.1:7687");
    assert_eq!(cypher(&server.endpoint, "RETURN 1"), json!(1));
    drop(usual);
    server.release().await.unwrap();
}

#[tokio::test]
async fn what_is_missing_is_named_with_what_to_install() {
    let place = Place::new().await;
    let none = || Some(PathBuf::from("a-program-that-is-not-there"));
    let said =
        async |config: Config| ebb_provision::acquire(&config, &keeper()).await.unwrap_err().to_string();
    let empty = Some(place.folder.path().join("cache"));

    let text = said(Config { java: none(), ..place.config() }).await;
    assert!(text.contains("needs Java") && text.contains("openjdk-17"), "{text}");
    let text = said(Config { mvn: none(), cache: empty.clone(), ..place.config() }).await;
    assert!(text.contains("Install Maven") && text.contains("/lib"), "{text}");
    let text = said(Config { docker: none(), way: Some(Way::Docker), ..place.config() }).await;
    assert!(text.contains("does not exist") && text.contains("Docker engine"), "{text}");
    let text = said(Config { docker: none(), java: none(), way: None, ..place.config() }).await;
    assert!(
        text.contains("through Docker") && text.contains("through Maven") && text.contains("NEO4J_URI"),
        "{text}"
    );

    // A Maven that cannot reach its repository.
    let settings = place.folder.path().join("offline");
    std::fs::write(
        &settings,
        "#!/bin/sh\necho '[ERROR] Could not transfer artifact x: Unknown host repository'; exit 1\n",
    )
    .unwrap();
    std::fs::set_permissions(&settings, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let text = said(Config { mvn: Some(settings), cache: empty, ..place.config() }).await;
    assert!(text.contains("Unknown host") && text.contains("check the network"), "{text}");
}

#[tokio::test]
async fn a_java_that_is_too_old_is_named() {
    let place = Place::new().await;
    let java = place.folder.path().join("java");
    std::fs::write(&java, "#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n").unwrap();
    std::fs::set_permissions(&java, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let error =
        ebb_provision::acquire(&Config { java: Some(java), ..place.config() }, &keeper()).await.unwrap_err();
    assert!(error.to_string().contains("version 11"), "{error}");
}

#[tokio::test]
async fn a_store_that_another_process_has_open_is_named() {
    let place = Place::new().await;
    let server = acquire(&place.config()).await;
    let other = Config { home: place.folder.path().join("other"), ..place.config() };
    std::fs::create_dir(&other.home).unwrap();
    std::fs::write(other.home.join(".ebb-managed"), "").unwrap();
    std::fs::copy(place.home().join("password"), other.home.join("password")).unwrap();
    std::os::unix::fs::symlink(place.home().join("data"), other.home.join("data")).unwrap();
    let error = ebb_provision::acquire(&other, &keeper()).await.unwrap_err();
    assert!(matches!(error, Error::StoreLocked { .. }), "{error}");
    server.release().await.unwrap();
}

#[tokio::test]
async fn a_server_that_gets_no_memory_or_no_keeper_says_so() {
    let place = Place::new().await;
    let huge = Config { heap_mb: 2_000_000_000, ..place.config() };
    let error = ebb_provision::acquire(&huge, &keeper()).await.unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
    let nobody = Keeper::of(Path::new("/a-program/that/is/not/there"));
    let error = ebb_provision::acquire(&place.config(), &nobody).await.unwrap_err();
    assert!(matches!(error, Error::Keeper { .. }), "{error}");
    let deaf = Keeper { command: vec!["sh".into(), "-c".into(), "echo no luck >&2; exit 3".into()] };
    let error = ebb_provision::acquire(&place.config(), &deaf).await.unwrap_err();
    assert!(error.to_string().contains("no luck"), "{error}");
}

#[tokio::test]
async fn only_a_folder_of_our_own_is_used_or_removed() {
    let place = Place::new().await;
    let foreign = place.folder.path().join("foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("precious"), "x").unwrap();
    let config = Config { home: foreign.clone(), ..place.config() };
    assert!(matches!(ebb_provision::acquire(&config, &keeper()).await, Err(Error::ForeignHome { .. })));
    assert!(matches!(ebb_provision::wipe(&config).await, Err(Error::ForeignHome { .. })));
    assert!(foreign.join("precious").exists());
    let at = |name: &str| Config { home: place.folder.path().join(name), ..place.config() };
    ebb_provision::wipe(&at("nothing")).await.unwrap();
    std::fs::create_dir(at("unused").home).unwrap();
    ebb_provision::wipe(&at("unused")).await.unwrap();
}

#[tokio::test]
async fn a_given_server_is_taken_as_it_is_and_never_stopped() {
    let place = Place::new().await;
    let given = Config {
        uri: Some("bolt://127.0.0.1:9".to_owned()),
        password: Some("open sesame".to_owned().into()),
        ..place.config()
    };
    let server = acquire(&given).await;
    assert_eq!((server.endpoint.uri.as_str(), server.endpoint.origin), ("bolt://127.0.0.1:9", Origin::Given));
    server.release().await.unwrap();
    assert!(matches!(ebb_provision::stop(&given, true).await, Err(Error::NotOurs { .. })));
    assert!(matches!(ebb_provision::start(&given, &keeper()).await, Err(Error::NotOurs { .. })));
    let error =
        ebb_provision::acquire(&Config { password: None, ..given.clone() }, &keeper()).await.unwrap_err();
    assert!(matches!(error, Error::NoPassword { .. }), "{error}");

    let file = place.folder.path().join("word");
    let from_file = Config { password: None, password_file: Some(file.clone()), ..given.clone() };
    assert!(matches!(ebb_provision::acquire(&from_file, &keeper()).await, Err(Error::PasswordFile { .. })));
    std::fs::write(&file, "from a file\n").unwrap();
    assert_eq!(acquire(&from_file).await.endpoint.password.expose_secret(), "from a file");
    assert!(!format!("{given:?}").contains("sesame"));
    assert!(!place.home().exists());
}

/// A server in a container; `None` without an engine or its image: this way says so, which is all it can do there.
async fn in_container(place: &Place) -> Option<(Config, Server)> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the image is named to tests as it is to the program, and there is no program here to ask"
    )]
    let image = std::env::var("EBB_NEO4J_IMAGE").unwrap_or_else(|_| place.config().image);
    let config = Config { way: Some(Way::Docker), image, ..place.config() };
    match ebb_provision::acquire(&config, &keeper()).await {
        Ok(server) => Some((config, server)),
        Err(Error::Docker { why, .. }) => {
            eprintln!("no container was tried: {why}");
            None
        }
        Err(e) => panic!("{e}"),
    }
}

/// Whether the engine has this container, running or not.
fn is_here(container: &str) -> bool {
    let filter = format!("name={container}");
    let output = Command::new("docker").args(["ps", "-aq", "--filter", &filter]).output().unwrap();
    !output.stdout.is_empty()
}

#[tokio::test]
async fn docker_runs_the_same_server_where_an_engine_answers() {
    let place = Place::new().await;
    let Some((config, first)) = in_container(&place).await else { return };
    assert_eq!(first.endpoint.origin, Origin::Docker);
    cypher(&first.endpoint, "CREATE (:Kept {n: 42})");
    let second = acquire(&config).await;
    first.release().await.unwrap();
    assert_eq!(cypher(&second.endpoint, "MATCH (k:Kept) RETURN k.n"), json!(42));
    let container = record(&place.home()).unwrap()["container"].as_str().unwrap().to_owned();
    assert!(is_here(&container));

    // The keeper's end leaves the container; the next user ends that and finds the data.
    kill("KILL", record(&place.home()).unwrap()["keeper_pid"].as_u64().unwrap());
    let third = acquire(&config).await;
    assert_eq!(cypher(&third.endpoint, "MATCH (k:Kept) RETURN k.n"), json!(42));
    drop(second);
    third.release().await.unwrap();
    assert!(!is_here(&container));
}
