"""The faults, and how long writes and reads fail after each."""
import random
import signal
import statistics
import threading
import time

from servers import Failed, Found, until


class Probe(threading.Thread):
    """Sends the same call to one service repeatedly, and records when it is answered."""

    def __init__(self, connections, place, writes, stop):
        super().__init__(daemon=True, name=f"probe-{place}")
        self.connections, self.place, self.writes, self.stop = connections, place, writes, stop
        self.times = []
        self.sent = 0
        self.customer = f"probe-{place}"

    def run(self):
        while not self.stop.wait(0.03):
            self.sent += 1
            if self.writes:
                answer = self.connections.send(
                    self.place, "POST", f"/v1/customers/{self.customer}/balances/coins/adjust",
                    {"amount": 1, "reason": "probe"}, {"Idempotency-Key": f"probe-{self.place}-{self.sent}"})
            else:
                answer = self.connections.send(self.place, "GET", f"/v1/customers/{self.customer}/entitlements")
            if answer and answer[0] == 200:
                self.times.append(time.monotonic())

    def first_after(self, moment):
        return next((found - moment for found in list(self.times) if found > moment), None)

    def judge(self):
        """Returns a finding if the balance is wrong: it must contain every acknowledged call, and may contain every other call once."""
        answer = self.connections.read(self.place, f"/v1/customers/{self.customer}/balances")
        balance = answer["balances"].get("coins", 0) if answer else -1
        if len(self.times) <= balance <= self.sent:
            return []
        return [f"{self.customer} ends with {answer}: {len(self.times)} of {self.sent} were acknowledged"]

    def longest_gap(self, start, end):
        times = [start] + [found for found in list(self.times) if start < found < end] + [end]
        return max(later - earlier for earlier, later in zip(times, times[1:]))


class Drill:
    def __init__(self, primary, standby, services, connections, seed, calm, say):
        self.primary, self.standby, self.services = primary, standby, services
        self.connections, self.calm, self.say = connections, calm, say
        self.random = random.Random(seed)
        self.rows = {}
        self.count = 0
        self.stop = threading.Event()
        self.writers = [Probe(connections(), place, True, self.stop) for place in range(2)]
        self.readers = [Probe(connections(), place, False, self.stop) for place in range(2)]
        self.asking = connections()
        self.waiting = []
        self.omitted = [] if primary.disks["data"].is_small else [
            "disks that are full: mounting takes rights that are missing here"]

    # Faults. Each function returns the time of its repair.

    def service_killed(self):
        service = self.random.choice(self.services)
        service.signal(signal.SIGKILL)
        time.sleep(self.random.uniform(0, 0.5))
        service.start()
        return time.monotonic()

    def service_frozen(self):
        service = self.random.choice(self.services)
        service.signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(1, 3))
        service.signal(signal.SIGCONT)
        return time.monotonic()

    def sessions_ended(self):
        self.primary.end_sessions()
        return time.monotonic()

    def primary_killed(self):
        self.primary.kill()
        time.sleep(self.random.uniform(0, 1))
        self.primary.start()
        return time.monotonic()

    def primary_frozen(self):
        self.primary.signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(1, 4))
        self.primary.signal(signal.SIGCONT)
        return time.monotonic()

    def standby_killed(self):
        self.standby.kill()
        time.sleep(self.random.uniform(0.5, 2))
        self.standby.start()
        return time.monotonic()

    def standby_frozen(self):
        self.standby.signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(1, 4))
        self.standby.signal(signal.SIGCONT)
        return time.monotonic()

    def failover(self):
        """Kills the primary. It returns as a primary after its standby has taken over."""
        self.primary.kill()
        repaired = self.take_over()
        self.settle(repaired)
        self.primary.start("synchronous_standby_names=")
        self.tempt()
        self.join()
        return repaired

    def failover_from_frozen(self):
        """Freezes the primary until its standby has taken over. The primary then continues as before."""
        self.primary.signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(0, 3))
        repaired = self.take_over()
        # If a service has not noticed yet, only the old primary could tell it.
        self.settle(repaired)
        self.primary.confirm_alone()
        self.primary.signal(signal.SIGCONT)
        self.tempt()
        self.join()
        return repaired

    def failover_while_idle(self):
        """Does the same while most of the services' connections are idle and therefore do not notice."""
        self.calm.set()
        time.sleep(1)
        try:
            self.primary.signal(signal.SIGSTOP)
            repaired = self.take_over()
            self.settle(repaired)
            self.primary.confirm_alone()
            self.primary.signal(signal.SIGCONT)
        finally:
            self.calm.clear()
        # This happens before anything makes the services reconnect.
        time.sleep(1)
        self.tempt()
        self.join()
        return repaired

    def data_disk_full(self):
        return self.disk_full("data")

    def wal_disk_full(self):
        return self.disk_full("wal")

    def disk_full(self, name):
        disk = self.primary.disks[name]
        disk.fill()
        if name == "wal":
            # PostgreSQL uses up its reserve first.
            for _ in range(20):
                self.primary.ask("select pg_logical_emit_message(false, '', ''), pg_switch_wal()", check=False)
        time.sleep(self.random.uniform(1, 3))
        disk.clear()
        if not self.primary.processes() or self.primary.ask("select 1", check=False) != "1":
            # Without disk space for its log, PostgreSQL stops, and may not restart by itself.
            time.sleep(0.5)
            if self.primary.ask("select 1", check=False) != "1":
                self.primary.kill()
                self.primary.start()
        return time.monotonic()

    # Steps that several faults share

    def settle(self, repaired):
        """Waits until both services write again. The measurement ends here."""
        self.expect("both services write to the new primary", lambda: self.both_write(repaired))
        self.measured = time.monotonic()

    def expect(self, what, condition):
        try:
            until(60, what, condition)
        except Failed as error:
            # An older connection may be closed.
            said = [self.asking.send(place, "GET", "/readyz") or self.asking.send(place, "GET", "/readyz")
                    for place in range(2)]
            raise Found(f"{error}; /readyz: {[answer and answer[2] for answer in said]}")

    def both_write(self, moment):
        return all(probe.first_after(moment) is not None for probe in self.writers)

    def tempt(self):
        """Lets the old primary accept writes without a standby, while services reconnect to any server. Its writes are
        lost with it."""
        for _ in range(2):
            moment = time.monotonic()
            self.standby.end_sessions()
            service = self.random.choice(self.services)
            service.signal(signal.SIGKILL)
            service.start()
            self.expect("both services write beside the old primary", lambda: self.both_write(moment))
            time.sleep(0.5)
        self.primary.kill()

    def take_over(self):
        self.standby.promote()
        # Without another standby, no server could confirm a write.
        self.standby.confirm_by_standby(False)
        return time.monotonic()

    def join(self):
        """Makes the old primary the standby of the new one."""
        self.primary.copy(self.standby)
        self.primary.start()
        self.primary, self.standby = self.standby, self.primary
        self.primary.confirm_by_standby(True)

    @property
    def faults(self):
        found = [
            self.service_killed, self.service_frozen, self.sessions_ended, self.primary_killed, self.primary_frozen,
            self.standby_killed, self.standby_frozen, self.failover, self.failover_from_frozen,
            self.failover_while_idle]
        return found + ([] if self.omitted else [self.data_disk_full, self.wal_disk_full])

    def is_whole(self):
        answers = [self.asking.send(place, "GET", "/readyz") for place in range(2)]
        return all(answer and answer[0] == 200 for answer in answers)

    def go_on_until(self, deadline):
        for probe in self.writers + self.readers:
            probe.start()
        time.sleep(1)
        while time.monotonic() < deadline:
            # Every fault occurs once in each round. The order depends on the seed.
            if not self.waiting:
                self.waiting = self.random.sample(range(len(self.faults)), len(self.faults))
            self.suffer(self.faults[self.waiting.pop()])
        self.stop.set()

    def suffer(self, fault):
        name = fault.__name__
        self.measured = None
        start = time.monotonic()
        repaired = fault()
        self.primary.wait_for_standby()
        self.expect(f"both services are ready after {name}", self.is_whole)
        self.expect(f"both services write after {name}", lambda: self.both_write(repaired))
        time.sleep(0.6)
        end = self.measured or time.monotonic()
        self.count += 1
        row = {
            "writes": max(probe.longest_gap(start, end) for probe in self.writers),
            "reads": max(probe.longest_gap(start, end) for probe in self.readers),
            "after": max(probe.first_after(repaired) for probe in self.writers),
        }
        self.rows.setdefault(name, []).append(row)
        self.say(f"{self.count:4} {name:22} no writes {row['writes']:5.2f} s, no reads {row['reads']:5.2f} s, "
                 f"first write {row['after']:5.2f} s after it was whole")

    def table(self):
        lines = [
            "| fault | times | no writes, median (longest) | no reads, median (longest) | first write after repair |",
            "|---|---|---|---|---|"]
        for name, rows in sorted(self.rows.items()):
            def figures(column):
                values = [row[column] for row in rows]
                return f"{statistics.median(values):.2f} s ({max(values):.2f} s)"
            lines.append(f"| {name.replace('_', ' ')} | {len(rows)} | {figures('writes')} | {figures('reads')} | "
                         f"{figures('after')} |")
        return "\n".join(lines)
