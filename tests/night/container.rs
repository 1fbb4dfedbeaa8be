//! What the namespaces of a container give: a root that cannot be written but for the work tree, the home and `TMPDIR`, a user
//! without rights, and `spool` as process 1.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::{Signal, geteuid};

use crate::left_out::left_out;
use crate::limited::Limited;
use crate::place::{Place, Runner};
use crate::plan::Plan;
use crate::scratch::SPOOL;

/// Makes all of the system read-only but for what is mounted from the place itself, and starts `spool` as another user.
const SCRIPT: &str = r#"top=$1; shift
mount --make-rprivate /
for folder in project home tmp; do mount --rbind "$top/$folder" "$top/$folder" || exit 99; done
if [ -e "$top/uptime" ]; then mount --bind "$top/uptime" /proc/uptime || exit 99; fi
for place in $(cut -d' ' -f5 /proc/self/mountinfo | sort -u); do
  case $place in "$top"/*|/proc|/proc/*) ;; *) mount -o remount,bind,ro "$place" 2>/dev/null ;; esac
done
cd "$top/project" || exit 99
for place in /etc "$top"; do (echo x > "$place/ralph-probe") 2>/dev/null && exit 98; done
export TMPDIR="$top/tmp"
exec setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs "$top/bin/spool" "$@"
"#;

/// A play in such a place.
pub struct Container {
    pub place: Place,
}

impl Container {
    /// The place of a play, `None` with a printed line where the system has no namespaces for it.
    pub fn around(plan: Plan) -> Option<Self> {
        let mut can = Command::new("unshare");
        can.args(["--mount", "--pid", "--fork", "setpriv", "--version"]);
        if !geteuid().is_root()
            || !Path::new("/usr/bin/unshare").exists()
            || !can.finish().status.success()
        {
            left_out("it needs root, `unshare` with mounts, and `setpriv`");
            return None;
        }
        let place = Place::new(plan);
        let top = place.scratch.top();
        fs::create_dir(top.join("tmp")).unwrap();
        let copy =
            "rm \"$3/bin/agent\" && cp \"$1\" \"$3/bin/spool\" && cp \"$2\" \"$3/bin/agent\"";
        let mut copying = Command::new("sh");
        copying.args(["-c", copy, "sh", SPOOL]).arg(std::env::current_exe().unwrap()).arg(top);
        assert!(copying.finish().status.success());
        let container = Self { place };
        container.belongs_to("65532");
        Some(container)
    }

    pub fn start(&self) -> Runner {
        let mut command = self.place.command("unshare");
        command.args(["--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", SCRIPT, "sh"]);
        command.arg(self.place.scratch.top()).args(Place::arguments());
        self.place.starts(&mut command)
    }

    /// Sends a signal to process 1 in it.
    pub fn signal(runner: &Runner, signal: Signal) {
        let id = runner.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        Runner::signal(children.trim().parse().unwrap(), signal);
    }

    /// Gives all that is in it to whoever runs the test.
    pub fn open(&self) {
        self.belongs_to("0");
    }

    fn belongs_to(&self, user: &str) {
        let mut change = self.place.command("chown");
        change.args(["-R", &format!("{user}:{user}")]).arg(self.place.scratch.top());
        assert!(change.finish().status.success());
    }
}
