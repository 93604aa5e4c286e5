"""The servers that the drill breaks: a PostgreSQL with its standby, and two services on them."""
import glob
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import time
import urllib.parse


class Failed(Exception):
    """The drill cannot continue."""


class Found(Exception):
    """Deed does not recover."""


def run(*words, check=True, **options):
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if check and done.returncode != 0:
        raise Failed(f"{' '.join(words)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def until(seconds, what, condition):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Failed(f"{what}: not within {seconds} s")
        time.sleep(0.02)


def programs():
    folders = glob.glob("/usr/lib/postgresql/*/bin") + glob.glob("/usr/pgsql-*/bin")
    found = [folder for folder in folders if os.access(f"{folder}/initdb", os.X_OK)]
    if not found:
        raise Failed("no PostgreSQL server is installed; install the package postgresql")
    return max(found, key=lambda folder: int(re.search(r"\d+", folder)[0]))


class Disk:
    """A disk in memory if mounting is allowed, otherwise a folder."""

    def __init__(self, path, megabytes):
        self.path, self.megabytes = path, megabytes
        path.mkdir(parents=True)
        self.is_small = os.getuid() == 0 and self.mount("tmpfs").returncode == 0

    def mount(self, *words, kilobytes=None):
        size = kilobytes or self.megabytes << 10
        return run("mount", "-t", "tmpfs", "-o", f"{'' if words else 'remount,'}size={size}k,mode=755", *words,
                   str(self.path), check=False)

    def fill(self):
        """Fills the disk: shrinks it to the size of its contents."""
        used = os.statvfs(self.path)
        self.mount(kilobytes=((used.f_blocks - used.f_bfree) * used.f_frsize >> 10) + 16)

    def clear(self):
        self.mount()

    def close(self):
        if self.is_small:
            run("umount", "-l", str(self.path), check=False)


class Postgres:
    """One server, on a socket in a separate folder, with disks for its data and for its log."""

    def __init__(self, folder, name):
        self.name = name
        self.programs = programs()
        self.socket = folder / name
        self.socket.mkdir()
        self.disks = {"data": Disk(folder / f"{name}-data-disk", 2000), "wal": Disk(folder / f"{name}-wal-disk", 160)}
        self.data = self.disks["data"].path / "data"
        self.wal = self.disks["wal"].path / "wal"
        self.log = self.socket / "log"
        self.owner = []
        if os.getuid() == 0:
            self.owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
            user = pwd.getpwnam("postgres")
            for path in [self.socket] + [disk.path for disk in self.disks.values()]:
                os.chown(path, user.pw_uid, user.pw_gid)

    def command(self, program, *words, check=True):
        return run(*self.owner, f"{self.programs}/{program}", *words, check=check, cwd="/")

    def create(self):
        self.command(
            "initdb", "-D", str(self.data), "-X", str(self.wal), "-U", "deed", "--auth=trust", "--encoding=UTF8",
            "--locale=C", "--wal-segsize=4")
        with open(self.data / "postgresql.conf", "a") as file:
            file.write(
                "listen_addresses=''\nmax_connections=150\nmax_wal_size=48MB\nmin_wal_size=16MB\nwal_keep_size=32MB\n"
                "wal_log_hints=on\nhot_standby=on\n"
                # How often a standby tries to reconnect to its primary. The default is 5 s.
                "wal_retrieve_retry_interval=200ms\n")

    def copy(self, primary):
        """Becomes a new standby of the primary."""
        for path in [self.data, self.wal]:
            shutil.rmtree(path, ignore_errors=True)
        self.command(
            "pg_basebackup", "-h", str(primary.socket), "-U", "deed", "-D", str(self.data),
            "--waldir", str(self.wal), "-R", "-X", "stream", "-c", "fast")

    def start(self, *settings, wait=True):
        options = " ".join([f"-k {self.socket}"] + [f"-c {setting}" for setting in settings])
        words = ["-D", str(self.data), "-l", str(self.log), "-o", options, "-t", "60"]
        self.command("pg_ctl", *words, "-w" if wait else "-W", "start")

    def processes(self):
        try:
            first = int((self.data / "postmaster.pid").read_text().split("\n")[0])
        except (OSError, ValueError):
            return []
        listed = run("ps", "-o", "pid=", "--ppid", str(first), check=False).stdout.split()
        return [first] + [int(process) for process in listed]

    def signal(self, number):
        for process in self.processes():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def kill(self):
        processes = self.processes()
        self.signal(signal.SIGKILL)
        until(20, f"{self.name} is gone", lambda: not any(is_alive(process) for process in processes))
        # If no process reaps dead processes, their ids stay in use, and PostgreSQL would wait for them.
        for file in [self.data / "postmaster.pid", *self.socket.glob(".s.PGSQL.*")]:
            file.unlink(missing_ok=True)

    def promote(self):
        self.command("pg_ctl", "-D", str(self.data), "-w", "-t", "60", "promote")

    def ask(self, text, check=True):
        done = self.command("psql", "-h", str(self.socket), "-U", "deed", "-d", "deed", "-qAtc", text, check=check)
        return done.stdout.strip()

    def confirm_by_standby(self, wanted):
        """Makes commits wait for the standby, or no longer wait."""
        self.ask(f"alter system set synchronous_standby_names = '{'*' if wanted else ''}'")
        self.ask("select pg_reload_conf()")

    def confirm_alone(self):
        """Makes a frozen server commit without a standby. It reads this setting as soon as it continues."""
        with open(self.data / "postgresql.auto.conf", "a") as file:
            file.write("synchronous_standby_names = ''\n")
        os.kill(self.processes()[0], signal.SIGHUP)

    def end_sessions(self):
        self.ask("select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'deed'")

    def wait_for_standby(self):
        asked = "select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum')"
        until(60, f"{self.name} has a standby", lambda: self.ask(asked, check=False) == "1")

    def close(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        time.sleep(0.2)
        for disk in self.disks.values():
            disk.close()


def is_alive(process):
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"


class Service:
    """A `deed serve` that restarts after it was killed."""

    def __init__(self, deed, folder, name, url, roots):
        self.deed, self.folder, self.name = deed, folder, name
        self.variables = dict(
            os.environ, DEED_DATABASE_URL=url, DEED_DATA_DIR=str(folder / f"{name}-kept"), DEED_EXTRA_ROOTS=str(roots))
        self.port = None
        self.process = None
        self.starts = 0

    def start(self):
        self.starts += 1
        path = self.folder / f"{self.name}.{self.starts}.log"
        listen = f"127.0.0.1:{self.port or 0}"
        with open(path, "wb") as log:
            self.process = subprocess.Popen(
                [self.deed, "serve", "--listen", listen], env=self.variables, stderr=log, stdout=subprocess.DEVNULL)

        def port():
            if self.process.poll() is not None:
                raise Failed(f"{self.name} ended: {path.read_text()[-2000:]}")
            for line in path.read_text().splitlines():
                if '"event":"ready"' in line:
                    return json.loads(line)["port"]
            return None

        if self.port is None:
            until(60, f"{self.name} is ready", lambda: port() is not None)
            self.port = port()

    def signal(self, number):
        self.process.send_signal(number)
        if number == signal.SIGKILL:
            self.process.wait()

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def both(servers):
    """Returns a URL with both servers, in this order."""
    hosts = ",".join(urllib.parse.quote(str(server.socket), safe="/") for server in servers)
    return f"postgresql:///deed?host={hosts}&user=deed"
