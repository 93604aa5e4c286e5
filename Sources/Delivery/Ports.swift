package import Core
package import Feed
package import Outbound
import Synchronization
package import Telemetry
import Threading

/// What endpoints' progress is read from and written to.
package protocol DeliveryStore: Sendable {
    func webhookStandings(
        of project: ProjectID, _ id: WebhookID?
    ) throws(Fault) -> [WebhookID: WebhookStanding]
    func waitingCustomers(of name: WebhookName, limit: Int) throws(Fault) -> [WaitingCustomer]
    func replays(of name: WebhookName) throws(Fault) -> [WebhookReplay]
    /// All of it or nothing; false if another instance has taken over, or the endpoint is no more.
    func keep(_ progress: WebhookProgress, under lease: Lease) throws(Fault) -> Bool
}

/// What delivering needs of the outside.
package struct DeliveryPorts: Sendable {
    package let store: any DeliveryStore
    package let vault: WebhookVault
    package let form: MessageForm
    package let gate: SafeGate
    /// A reader of its own for each endpoint, which remembers customers as far as this endpoint has come.
    package let reader: @Sendable () -> FeedReader
    package let machineClock: @Sendable () -> Instant
    package let log: Log
    package let measures: DeliveryMeasures
    /// So that endpoints with much to read leave connections to everyone else.
    let turnstile = Turnstile(places: 2)
    /// How long a message waits after each failed attempt, in milliseconds.
    package var retries = RetryPlan.usual

    package init(
        _ store: some DeliveryStore, vault: WebhookVault, form: MessageForm, gate: SafeGate,
        reader: @escaping @Sendable () -> FeedReader,
        machineClock: @escaping @Sendable () -> Instant, log: Log, measures: DeliveryMeasures
    ) {
        self.store = store
        self.vault = vault
        self.form = form
        self.gate = gate
        self.reader = reader
        self.machineClock = machineClock
        self.log = log
        self.measures = measures
    }
}

/// Lets a few threads through at a time.
final class Turnstile: Sendable {
    private let free: Monitor<Int>

    init(places: Int) {
        free = Monitor(places)
    }

    func passing<Value, Failure>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        free.wait { free -> Void? in
            if free == 0 { return nil }
            free -= 1
            return ()
        }
        defer { free.change { $0 += 1 } }
        return try body()
    }
}

/// When a message is tried again.
package struct RetryPlan: Sendable {
    package static let usual = RetryPlan(
        seconds: [5, 30, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])

    let pauses: [Int64]

    package init(seconds: [Int64]) {
        pauses = seconds.map { $0 * 1000 }
    }

    /// Reads a list like `5,30,300`; `nil` if it is none of 1 to 20 numbers of seconds, each at most a week.
    package init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Int64($0) }
        let numbers = parts.compactMap(\.self)
        guard numbers.count == parts.count, (1...20).contains(numbers.count),
            numbers.allSatisfy({ (1...604_800).contains($0) })
        else { return nil }
        self.init(seconds: numbers)
    }

    /// How long all of it takes.
    var whole: Int64 { pauses.reduce(0, +) }

    /// The pause after that many failed attempts, a tenth more or less; `nil` when there are no more.
    func pause(after attempts: Int64, chance: Double = .random(in: -0.1...0.1)) -> Int64? {
        guard attempts >= 1, attempts <= pauses.count else { return nil }
        let pause = pauses[Int(attempts) - 1]
        return pause + Int64(Double(pause) * chance)
    }
}

/// Sends requests where it is safe to: not into the operator's own network.
package struct SafeGate: Sendable {
    package typealias Answer = Result<OutboundResponse, OutboundError>

    private let rules: AddressRules
    private let resolve: Resolve
    private let courier: @Sendable () throws(OutboundError) -> Courier

    package init(
        _ rules: AddressRules, resolve: @escaping Resolve = systemAddresses,
        courier: @escaping @Sendable () throws(OutboundError) -> Courier
    ) {
        self.rules = rules
        self.resolve = resolve
        self.courier = courier
    }

    /// Why nothing may be sent to the address; `nil` if something may. It may take a while.
    package func obstacle(to url: WebhookURL) -> OutboundError? {
        let found = resolve(url.host)
        if found.isEmpty {
            return .unreachable(detail: "the name \(url.host) has no address")
        }
        for address in found {
            if !rules.allow(address) { return .forbidden(address: address.description) }
            if url.isPlain, !rules.isOpened(address) {
                return .malformedRequest(detail: "http is for addresses that the operator opened")
            }
        }
        return nil
    }

    /// Responds exactly once, on another thread.
    func send(_ request: OutboundRequest, respond: @escaping @Sendable (Answer) -> Void) {
        do throws(OutboundError) {
            try courier().send(request, respond: respond)
        } catch {
            respond(.failure(error))
        }
    }
}

extension WebhookURL {
    var isPlain: Bool { text.lowercased().hasPrefix("http://") }

    /// The name or address between the scheme and the port.
    var host: String {
        let authority = text.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }
}

/// How an attempt ended.
package struct AttemptEnd: Sendable {
    package let status: Int?
    package let error: String?
    package let answer: String
    let retryAfter: Int64?

    init(_ answer: SafeGate.Answer, at now: Instant) {
        switch answer {
        case .failure(let failure):
            (status, error, self.answer, retryAfter) = (nil, failure.description, "", nil)
        case .success(let response):
            status = response.status
            let isMoved = (300..<400).contains(response.status)
            error = isMoved ? "the receiver redirects, which is never followed" : nil
            self.answer = String(
                decoding: response.body.prefix(WebhookAttempt.answerLimit), as: UTF8.self
            )
            .replacing("\0", with: "\u{FFFD}")
            let wants = [429, 503].contains(response.status) ? response.header("Retry-After") : nil
            retryAfter = wants.flatMap { Int64($0) ?? secondsUntil($0, from: now) }
                .map { min(max($0, 0), 86_400) * 1000 }
        }
    }

    package var isDelivered: Bool { status.map { (200..<300).contains($0) } ?? false }
}

/// The seconds until an HTTP date like `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` for anything else.
private func secondsUntil(_ text: String, from now: Instant) -> Int64? {
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    let parts = text.split(separator: " ")
    guard parts.count == 6, let month = months.firstIndex(of: String(parts[2])) else { return nil }
    let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
    let instant = Instant(text: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    return instant.map { ($0.milliseconds - now.milliseconds) / 1000 }
}

/// Wakes the threads that deliver when something happens in their project.
package final class WebhookBell: Sendable {
    private let mailboxes = Mutex<[ProjectID: [ObjectIdentifier: Mailbox]]>([:])

    package init() {}

    /// Something may have happened there; in all projects, where none is named.
    package func ring(_ projects: Set<ProjectID>? = nil) {
        let found = mailboxes.withLock { all in
            all.filter { projects?.contains($0.key) ?? true }.flatMap { $0.value.values }
        }
        for mailbox in found { mailbox.ring() }
    }

    func add(_ mailbox: Mailbox, in project: ProjectID) {
        mailboxes.withLock { $0[project, default: [:]][ObjectIdentifier(mailbox)] = mailbox }
    }

    func remove(_ mailbox: Mailbox, in project: ProjectID) {
        mailboxes.withLock { all in
            all[project]?[ObjectIdentifier(mailbox)] = nil
            if all[project]?.isEmpty == true { all[project] = nil }
        }
    }
}

/// Where the thread that delivers learns what happened.
final class Mailbox: Sendable {
    struct Letter: Sendable {
        let line: Line
        let entry: Entry
        let attempt: Int64
        let at: Instant
        let milliseconds: Int64
        let answer: SafeGate.Answer
    }
    private struct State {
        var letters: [Letter] = []
        var isRung = true
        /// How many letters wake the thread while they gather; 0 if the first one does, or a ring.
        var wanted = 0
    }
    private let state = Monitor(State())
    /// How many milliseconds letters gather: each wake of the thread costs a busy machine more than they do.
    private static let gathering: Int64 = 5

    func ring() {
        state.changeAndWake { state in
            defer { state.isRung = true }
            return ((), state.isRung || state.wanted > 0 ? .none : .all)
        }
    }

    func put(_ letter: Letter) {
        state.changeAndWake { state in
            state.letters.append(letter)
            return ((), state.letters.count >= state.wanted ? .all : .none)
        }
    }

    /// What has come, at the latest when the time is up. After a first letter others may gather for a moment.
    func take(
        within milliseconds: Int64, gathering wanted: Int = 1
    ) -> (letters: [Letter], isRung: Bool) {
        let hasLetters = state.wait(milliseconds: milliseconds) { state -> Bool? in
            if state.letters.isEmpty { return state.isRung ? false : nil }
            state.wanted = wanted
            return true
        }
        if hasLetters == true, wanted > 1 {
            _ = state.wait(milliseconds: Mailbox.gathering) { state in
                state.letters.count >= wanted ? () : nil
            }
        }
        return state.change(wake: .none) { state in
            defer { state = State(letters: [], isRung: false) }
            return (state.letters, state.isRung)
        }
    }
}
