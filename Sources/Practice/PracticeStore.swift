package import Core
import Foundation
internal import JSON
internal import Threading

/// The services that the store needs.
package struct PracticePort: Sendable {
    /// The machine's clock.
    package var now: @Sendable () -> Instant
    /// Posts a notification's body, and returns the name of the result.
    package var send: @Sendable (_ url: String, _ body: [UInt8]) -> String
    /// Called before anything happens at an instant of the test clock, so that a service with its own test clock can
    /// follow. The store waits until the service has reached that instant. `nil` if no service follows.
    package var follow: (@Sendable (Instant) throws(PracticeError) -> Void)?

    package init(
        now: @escaping @Sendable () -> Instant,
        send: @escaping @Sendable (_ url: String, _ body: [UInt8]) -> String,
        follow: (@Sendable (Instant) throws(PracticeError) -> Void)? = nil
    ) {
        self.now = now
        self.send = send
        self.follow = follow
    }
}

/// A running practice store: a world that handles one request at a time and is saved in a folder.
package final class PracticeStore: Sendable {
    package let authority: Authority
    /// The keys for Google Play; `nil` if the store sells nothing there.
    package let account: ServiceAccount?
    private let folder: DataFolder?
    private let port: PracticePort
    private let state: Monitor<PracticeWorld>
    /// Held during a request and the notifications that it causes. Reads do not take it, because the receiver of a
    /// notification may query the store before it answers.
    private let turn = Monitor(())
    private let isStopped = Monitor(false)
    private let isUnsaved = Monitor(false)
    /// Held while the state is saved.
    private let writing = Monitor(())
    /// How long the last save took, and when it took place on the monotonic clock.
    private let written = Monitor((took: Int64(0), at: Int64(0)))

    private static let stateFile = "state.json"
    /// If a save takes longer than `quick`, the state is saved at most once per `rest`. Both are in milliseconds.
    private static let (quick, rest): (Int64, Int64) = (50, 500)

    /// The store's state is saved in `folder` between starts. If `folder` is `nil`, nothing is saved.
    package init(
        _ world: PracticeWorld, authority: Authority, account: ServiceAccount? = nil,
        folder: DataFolder? = nil, port: PracticePort
    ) {
        self.authority = authority
        self.account = account
        self.folder = folder
        self.port = port
        state = Monitor(world)
    }

    /// Returns the world saved in the folder, or `nil` if there is none.
    package static func world(in folder: DataFolder) throws(PracticeError) -> PracticeWorld? {
        guard folder.holds(stateFile) else { return nil }
        let bytes = try folder.bytes(stateFile)
        do {
            return try JSONDecoder().decode(PracticeWorld.self, from: Data(bytes))
        } catch {
            throw .broken(
                "\(folder.path)/\(stateFile) belongs to another release; start in a new folder")
        }
    }

    private func save() throws(PracticeError) {
        guard let folder else { return }
        try writing.change(wake: .none) { _ throws(PracticeError) in try write(to: folder) }
    }

    private func write(to folder: DataFolder) throws(PracticeError) {
        let start = monotonicMilliseconds()
        defer {
            let end = monotonicMilliseconds()
            written.change(wake: .none) { $0 = (end - start, end) }
        }
        let world = state.change(wake: .none) { $0 }
        guard let data = try? JSONEncoder().encode(world) else {
            throw .broken("the store's state cannot be encoded")
        }
        try folder.write(Self.stateFile, Array(data), isSecret: true)
    }

    /// Saves changes immediately, or a little later if the state is large and was just saved.
    private func saveInTime() throws(PracticeError) {
        if maySave { try save() } else { isUnsaved.change { $0 = true } }
    }

    private var maySave: Bool {
        let (took, at) = written.change(wake: .none) { $0 }
        return took <= Self.quick || monotonicMilliseconds() - at >= Self.rest
    }

    /// Reads the world as of its clock's current time.
    package func read<Result, Failure: Error>(
        _ body: (inout PracticeWorld) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let machine = port.now()
        return try state.change(wake: .none) { world throws(Failure) -> Result in
            if let offset = world.clockOffset {
                let running = machine.advanced(byMilliseconds: offset)
                let limit = world.nextDue.map { min($0, running) } ?? running
                world.now = max(world.now, limit)
            }
            return try body(&world)
        }
    }

    /// Changes the world, and then does everything that becomes due as a result.
    package func change<Result>(
        _ body: (inout PracticeWorld) throws(PracticeError) -> Result
    ) throws(PracticeError) -> Result {
        try turn.change(wake: .none) { _ throws(PracticeError) -> Result in
            try runDue(until: clock)
            // If a request is refused halfway, nothing changes.
            let result = try state.change(wake: .none) { world throws(PracticeError) in
                var changed = world
                let result = try body(&changed)
                world = changed
                return result
            }
            do throws(PracticeError) {
                // Each change has a separate instant, which must not be ahead of the service's clock.
                try port.follow?(clock)
                try runDue(until: clock)
            } catch {
                // From now on, the request counts as done.
                try save()
                throw error
            }
            try saveInTime()
            return result
        }
    }

    /// Performs a step in Google Play.
    package func performInPlay(_ step: Step) throws(PracticeError) -> PlayHandOver {
        let (outcome, told) = try change { world throws(PracticeError) in
            let before = world.play.messages.count
            let outcome = try world.perform(step)
            return (outcome, world.play.messages.dropFirst(before))
        }
        return read { PlayHandOver(outcome, in: $0, told: Array(told)) }
    }

    package func perform(_ step: Step) throws(PracticeError) -> HandOver {
        let (outcome, told) = try change { world throws(PracticeError) in
            let before = Set(world.postings.map(\.id))
            let outcome = try world.perform(step)
            return (outcome, Set(world.postings.map(\.id)).subtracting(before))
        }
        return read { world in
            var handOver = HandOver(outcome, in: world, by: authority)
            handOver.told = world.postings.filter { told.contains($0.id) }
            return handOver
        }
    }

    /// Whether the clock of a Deed server follows this store's clock.
    package var isFollowed: Bool { port.follow != nil }

    /// Moves the clock forward. Everything that becomes due on the way happens at its own instant.
    @discardableResult
    package func advance(to target: Instant) throws(PracticeError) -> [Event] {
        try turn.change(wake: .none) { _ throws(PracticeError) -> [Event] in
            let now = clock
            if target < now {
                throw .refused("the clock is already at \(now.text), and only moves forward")
            }
            var events: [Event] = []
            do throws(PracticeError) {
                // Simultaneous changes and their notifications can move the clock a few milliseconds past the target.
                var end = target
                repeat {
                    end = max(end, state.change(wake: .none) { $0.now })
                    events += try runDue(until: end)
                } while state.change(wake: .none, { $0.now }) > end
                try port.follow?(max(target, clock))
            } catch {
                try save()
                throw error
            }
            state.change(wake: .none) { world in
                if let offset = world.clockOffset {
                    world.clockOffset = offset + target.milliseconds - now.milliseconds
                }
            }
            try save()
            return events
        }
    }

    /// The current time on the store's clock.
    private var clock: Instant {
        let machine = port.now()
        return state.change(wake: .none) { world in
            world.clockOffset.map { max(world.now, machine.advanced(byMilliseconds: $0)) }
                ?? world.now
        }
    }

    /// Something that happened while the clock moved.
    package struct Event: Sendable {
        package let at: Instant
        package let text: String
    }

    @discardableResult
    private func runDue(until target: Instant) throws(PracticeError) -> [Event] {
        var events: [Event] = []
        var followed: Instant?
        while true {
            let due = state.change(wake: .none) { $0.nextDue }
            if let due, due <= target, due != followed {
                try port.follow?(due)
                followed = due
            }
            let (done, now) = state.change(wake: .none) { ($0.doNext(by: target), $0.now) }
            switch done {
            case .nothing: return events
            case .changed(let outcome):
                let words = [outcome.customer ?? "shop", outcome.transaction, outcome.note]
                let text = words.compactMap(\.self).joined(separator: " ")
                events.append(Event(at: now, text: text))
            case .refused(let step, let error):
                events.append(Event(at: now, text: "\(step.do.rawValue) was refused: \(error)"))
            case .post(let index):
                let result = attempt(index)
                state.change(wake: .none) { $0.record(result, of: index) }
                let posting = state.change(wake: .none) { $0.postings[index] }
                let type = [posting.type, posting.subtype].compactMap(\.self).joined(separator: " ")
                events.append(Event(at: now, text: "\(type): \(result)"))
            }
        }
    }

    /// Sends a notification without keeping the world locked.
    private func attempt(_ index: Int) -> String {
        let (posting, url) = state.change(wake: .none) {
            ($0.postings[index], $0.shop.app.notificationURL)
        }
        guard let url else { return "OTHER" }
        let body = body(of: posting)
        var result = ""
        for _ in 0..<max(1, posting.copies) { result = port.send(url, body) }
        return result
    }

    /// Returns the notification's body as it is posted.
    package func body(of posting: Posting) -> [UInt8] {
        let payload = state.change(wake: .none) { world in
            world.payload(of: posting) { authority.sign($0) }
        }
        let signed = posting.isSpoiled ? authority.spoil(payload) : authority.sign(payload)
        let body: JSON = ["signedPayload": .string(signed)]
        return body.bytes
    }

    /// Changes the world for a caller that may be handling a notification. Does not wait.
    /// Everything that becomes due happens soon afterwards.
    func changeSoon<Result>(_ body: (inout PracticeWorld) -> Result) -> Result {
        let result = read { world in
            world.tick()
            defer { world.lastChange = world.now }
            return body(&world)
        }
        // An answer may report only saved state. A failed save is tried again later.
        if (try? save()) == nil { isUnsaved.change { $0 = true } }
        return result
    }

    /// Performs everything that becomes due as time passes and calls arrive, until the store is stopped.
    package func run() {
        startThread("practice clock") { [self] in
            while isStopped.wait(milliseconds: 100, for: { $0 ? true : nil }) == nil {
                let due = state.change(wake: .none) { $0.nextDue }
                let isDue = due.map { $0 <= clock } ?? false
                let mustSave = maySave && isUnsaved.change(wake: .none, { take(&$0) })
                guard mustSave || isDue else { continue }
                let isDone = turn.change(wake: .none) { _ in
                    defer { try? saveInTime() }
                    // The next request reports errors that occur here.
                    return (try? runDue(until: clock)) != nil
                }
                if !isDone { _ = isStopped.wait(milliseconds: 2000) { $0 ? true : nil } }
            }
        }
    }

    package func stop() {
        isStopped.change { $0 = true }
        turn.change(wake: .none) { _ in try? save() }
    }
}

/// Clears the flag, and returns its previous value.
private func take(_ flag: inout Bool) -> Bool {
    defer { flag = false }
    return flag
}
