//! What it is measured on, as the kernel tells it. What a system does not tell stays empty.

use crate::record::Machine;
use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::process::Command;

/// What a program says in one line.
pub(crate) fn said(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{command:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Mean load of the last minute.
pub(crate) fn load() -> f64 {
    let text = read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or_default()
}

/// The first value of a name in a file of `name: value` lines.
fn value(file: &str, name: &str) -> String {
    let text = read_to_string(file).unwrap_or_default();
    let of = text.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.trim() == name);
    of.map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
}

fn caches() -> BTreeMap<String, u64> {
    let cache = |at: u32| {
        let part =
            |name: &str| read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{at}/{name}")).ok();
        let (level, kind, size) = (part("level")?, part("type")?, part("size")?);
        let kind = match kind.trim() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        Some((format!("L{}{kind}", level.trim()), size.trim().trim_end_matches('K').parse().ok()?))
    };
    (0..8).map_while(cache).collect()
}

/// The machine before anything is measured.
pub(crate) fn look() -> Machine {
    let thp = read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let chosen =
        thp.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(chosen, _)| chosen);
    let is_vm = value("/proc/cpuinfo", "flags").split(' ').any(|flag| flag == "hypervisor");
    let kib = value("/proc/meminfo", "MemTotal");
    Machine {
        cpu: value("/proc/cpuinfo", "model name"),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        caches: caches(),
        memory: kib.split(' ').next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) / 1_024,
        kernel: read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
        thp: chosen.to_owned(),
        kind: if is_vm { "vm" } else { "bare" }.to_owned(),
        load_before: load(),
        load_after: 0.0,
        affinity: 0,
    }
}
