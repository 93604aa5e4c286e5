package import Core
import JSON
package import Ledger
package import Telemetry
import Threading
import Wording

/// Runs jobs as long as the service runs, each on its own threads.
package final class Runner: Sendable {
    private let workers: [Worker]

    /// `now` is Deed's clock, which determines when jobs are due. Leases use the machine's clock.
    package init(
        _ jobs: [Job], leases: Ledger, now: @escaping @Sendable () -> Instant,
        machineClock: @escaping @Sendable () -> Instant, log: Log, metrics: Metrics
    ) {
        workers = jobs.map { job in
            Worker(
                job, log: log, measures: JobMeasures(job.name, metrics, machineClock)
            ) { Turns($0, ledger: leases, now: now, machineClock: machineClock) }
        }
    }

    package func start() {
        for worker in workers { worker.start() }
    }

    /// Runs all jobs, or those with the given name, immediately, even after a failure.
    package func hurry(_ name: String? = nil) {
        for worker in workers where name == nil || worker.job.name == name { worker.hurry() }
    }

    /// Waits for all work that is due now. Returns whether the work was finished in time.
    package func catchUp(within milliseconds: Int64) -> Bool {
        let deadline = monotonicMilliseconds() + milliseconds
        let hurries = workers.map { $0.hurry() }
        return zip(workers, hurries).allSatisfy { worker, hurries in
            worker.isIdle(since: hurries, within: max(0, deadline - monotonicMilliseconds()))
        }
    }

    /// Starts no further runs, and asks the current ones to end.
    package func stop() {
        for worker in workers { worker.stop() }
    }

    /// Returns the names of the jobs that did not end in time.
    package func unfinished(after milliseconds: Int64) -> [String] {
        let deadline = monotonicMilliseconds() + milliseconds
        return workers.filter { !$0.isOver(within: max(0, deadline - monotonicMilliseconds())) }
            .map(\.job.name)
    }
}

/// One job and its threads.
private final class Worker: Sendable {
    private struct State {
        var isStopping = false
        /// The number of requests to run the job immediately.
        var hurries = 0
        var running = 0
        /// For each thread, the value of `hurries` at the start of its last round if that round found no more work; -1
        /// while the thread is working.
        var idleSince: [Int]
        /// The last logged reason, remembered so that it is not logged again at every run.
        var reason: String?
        /// The workers of jobs that this job keeps running, and those of jobs that are about to
        /// end.
        var kept: [String: Worker] = [:]
        var ending: [Worker] = []
    }
    /// A run on behalf of all instances is logged if it takes at least this many milliseconds.
    private static let longRun: Int64 = 1000
    /// After this many consecutive faults while the database is usable, the job itself is considered to be at fault.
    private static let puzzleLimit = 3
    let job: Job
    private let turns: Turns
    private let makeTurns: @Sendable (Job) -> Turns
    private let log: Log
    /// `nil` for jobs that another job keeps running, because they may be numerous.
    private let measures: JobMeasures?
    private let state: Monitor<State>

    init(
        _ job: Job, log: Log, measures: JobMeasures?,
        turns: @escaping @Sendable (Job) -> Turns
    ) {
        self.job = job
        self.turns = turns(job)
        makeTurns = turns
        self.log = log
        self.measures = measures
        state = Monitor(State(idleSince: Array(repeating: -1, count: job.threads)))
    }

    func start() {
        state.change { $0.running = job.threads }
        for number in 1...job.threads {
            startThread(job.threads == 1 ? job.name : "\(job.name)-\(number)", job.urgency) {
                [self] in
                repeatRuns(on: number - 1)
                state.change { $0.running -= 1 }
            }
        }
    }

    /// Requests an immediate run. Returns how many such requests there have been so far.
    @discardableResult
    func hurry() -> Int {
        state.change { state in
            state.hurries += 1
            return state.hurries
        }
    }

    /// Runs these jobs and ends any others that were kept running. Does not wait for those to
    /// become idle.
    private func keep(_ jobs: [Job]) {
        let wanted = Set(jobs.map(\.name))
        let new = jobs.map { Worker($0, log: log, measures: nil, turns: makeTurns) }
        let (started, ended) = state.change { state in
            let ended = state.kept.filter { !wanted.contains($0.key) || state.isStopping }
            for name in ended.keys { state.kept[name] = nil }
            state.ending = state.ending.filter { !$0.isOver(within: 0) } + ended.values
            let started = new.filter { state.kept[$0.job.name] == nil && !state.isStopping }
            for worker in started { state.kept[worker.job.name] = worker }
            return (started, Array(ended.values))
        }
        for worker in ended { worker.stop() }
        for worker in started { worker.start() }
    }

    func isIdle(since hurries: Int, within milliseconds: Int64) -> Bool {
        state.wait(milliseconds: milliseconds) { state -> Bool? in
            if state.idleSince.allSatisfy({ $0 >= hurries }) { return true }
            return state.isStopping ? false : nil
        } ?? false
    }

    func stop() {
        let kept = state.change { state in
            state.isStopping = true
            return state.kept.values
        }
        for worker in kept { worker.stop() }
    }

    func isOver(within milliseconds: Int64) -> Bool {
        let deadline = monotonicMilliseconds() + milliseconds
        let isDone =
            state.wait(milliseconds: milliseconds) { $0.running == 0 ? true : nil } ?? false
        let others = state.change(wake: .none) { Array($0.kept.values) + $0.ending }
        return isDone
            && others.allSatisfy { $0.isOver(within: max(0, deadline - monotonicMilliseconds())) }
    }

    private func repeatRuns(on thread: Int) {
        var (failures, puzzles) = (0, 0)
        while true {
            let (hurries, isStopping) = state.change(wake: .none) { state in
                state.idleSince[thread] = -1
                return (state.hurries, state.isStopping)
            }
            if isStopping { return }
            let pause: Int64
            do throws(Fault) {
                pause = try run()
                (failures, puzzles) = (0, 0)
                state.change { state in
                    state.reason = nil
                    if pause > 0 { state.idleSince[thread] = hurries }
                }
            } catch {
                failures += 1
                pause = job.pause(afterFailures: failures)
                let puzzle = error.isOfWholeDatabase ? turns.puzzle : nil
                puzzles = puzzle == nil ? 0 : puzzles + 1
                tell(error, pause, puzzle: puzzles >= Worker.puzzleLimit ? puzzle : nil)
            }
            let isHurried = rest(pause, unlessHurriedSince: hurries)
            if isHurried { failures = 0 }
        }
    }

    /// Runs the job if it is this instance's turn. Returns how long to pause afterwards.
    private func run() throws(Fault) -> Int64 {
        guard let turn = try turns.take() else { return turns.pause(before: .asScheduled) }
        let started = monotonicMilliseconds()
        let run = Run(startedAt: turn.startedAt, lease: turn.lease?.lease) { [state] in
            !state.change(wake: .none) { $0.isStopping } && turn.isHeld
        }
        let next: Job.Next
        do throws(Fault) {
            next = try job.work(run)
        } catch {
            measures?.noteFailure()
            turns.abandon(turn)
            throw error
        }
        if case .keeping(let jobs) = next { keep(jobs) }
        let milliseconds = monotonicMilliseconds() - started
        measures?.noteRun(milliseconds)
        try turns.end(turn, next)
        // What was done in the run is logged by the job itself.
        if turn.lease != nil, milliseconds >= Worker.longRun {
            log.info(
                "job_done",
                ["job": .string(job.name), "milliseconds": .integer(Int(milliseconds))])
        }
        return turns.pause(before: next)
    }

    /// Pauses. Returns `true` if the pause was cut short.
    private func rest(_ milliseconds: Int64, unlessHurriedSince hurries: Int) -> Bool {
        state.wait(milliseconds: milliseconds) {
            $0.isStopping || $0.hurries != hurries ? true : nil
        }
            ?? false
    }

    /// Logs the fault. `puzzle` is the fault that keeps occurring although the database works for others.
    private func tell(_ fault: Fault, _ pause: Int64, puzzle: String?) {
        // An unreachable database is reported by the database watch, and a busy one is busy only
        // for a moment.
        if fault.isOfWholeDatabase && puzzle == nil || fault == .busy { return }
        let reason = puzzle.map { fault.sentence(although: $0) } ?? fault.withRemedy
        let isNew = state.change(wake: .none) { state in
            defer { state.reason = reason }
            return state.reason != reason
        }
        if !isNew { return }
        log.error(
            "job_failed",
            [
                "job": .string(job.name), "reason": .string(reason),
                "again_in_milliseconds": .integer(Int(pause)),
            ])
    }
}

extension Fault {
    /// Returns the message to operators if the same work fails every time although the database is usable.
    fileprivate func sentence(although puzzle: String) -> String {
        guard case .unavailable = self else {
            return "\(withRemedy) It happened three times in a row."
        }
        return
            "The database works, but this job's requests to it failed three times in a row: a stream "
            + "or a table may be too large to read in time. The last fault: \(puzzle)"
    }
}
