internal import CPostgres
import Glibc
import Threading

/// A connection to PostgreSQL, and the statements prepared on it.
package struct Connection: ~Copyable {
    private let owner: Handle
    private let schema: String
    private var prepared: Set<String> = []
    /// How long the server may stay silent. A server can hang without closing the connection.
    private let silenceLimit: Int64?
    private let planLifetime: Int64
    private let pulse: Pulse?
    /// How many times the pulse had abandoned connections when this one was opened.
    private var losses: Int
    /// How long each wait lasts, in milliseconds, before the pulse is checked.
    private static let pulsePause: Int64 = 100
    /// When the plans are next discarded, on the monotonic clock.
    private var nextPlanning: Int64

    private static let forgetPlans = Statement("discard plans")

    var pointer: OpaquePointer { owner.pointer }

    /// Connects with `settings`. Throws if the server does not answer in time.
    package static func open(
        _ settings: ConnectionSettings
    ) throws(PostgresError) -> Connection {
        let losses = settings.pulse?.count ?? 0
        var connection = Connection(try Handle(settings), settings, losses)
        try connection.run(settings.sessionCalls)
        return connection
    }

    private init(_ owner: consuming Handle, _ settings: ConnectionSettings, _ losses: Int) {
        self.owner = owner
        self.losses = losses
        schema = settings.schema
        silenceLimit = settings.silenceLimitMilliseconds
        planLifetime = settings.planLifetimeMilliseconds
        pulse = settings.pulse
        nextPlanning = monotonicMilliseconds() + planLifetime
    }

    /// Whether the connection is known to be broken.
    package var isBroken: Bool { PQstatus(pointer) != CONNECTION_OK }

    /// Whether the connection was abandoned along with others because its server may no longer be the right one.
    package var isGivenUp: Bool { pulse.map { $0.count != losses } ?? false }

    /// Abandons all other current connections. A connection that was already abandoned stays abandoned.
    package mutating func outliveOthers() {
        guard let pulse else { return }
        let count = pulse.loseOthers()
        if count == losses + 1 { losses = count }
    }

    /// Whether there is no open transaction.
    package var isIdle: Bool { PQtransactionStatus(pointer) == PQTRANS_IDLE }

    /// The server's address, in a form for people to read.
    package var address: String {
        func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String {
            pointer.map { String(cString: $0) } ?? ""
        }
        return [text(PQhost(pointer)), text(PQport(pointer))].filter { !$0.isEmpty }
            .joined(separator: ":")
    }

    /// Sends all calls in one round trip and passes the rows of each call to `each`, in order.
    ///
    /// If a call is refused, the later calls are skipped and its error is thrown. An open transaction then stays
    /// open, and can only be rolled back.
    package mutating func run(
        _ calls: [Call], each: (_ index: Int, _ rows: borrowing Rows) -> Void = { _, _ in }
    ) throws(PostgresError) {
        try requirePulse()
        let now = monotonicMilliseconds()
        if now >= nextPlanning, isIdle {
            nextPlanning = now + planLifetime
            try run([Connection.forgetPlans()])
        }
        var firstError: PostgresError?
        for step in try send(calls) {
            var isPrepared = false
            let error = try receive { rows in
                switch step {
                case .prepare: isPrepared = true
                case .call(let index): each(index, rows)
                }
            }
            if isPrepared, case .prepare(let name) = step { prepared.insert(name) }
            firstError = firstError ?? error
        }
        let error = try receiveSync() ?? firstError
        // Answers from a server that may no longer be the right one are ignored.
        try requirePulse()
        if let error { throw error }
    }

    private enum Step {
        case prepare(String)
        case call(Int)
    }

    private func send(_ calls: [Call]) throws(PostgresError) -> [Step] {
        var steps: [Step] = []
        var preparing: Set<String> = []
        for (index, call) in calls.enumerated() {
            let name = call.statement.name
            if !prepared.contains(name), preparing.insert(name).inserted {
                let text = call.statement.text(in: schema)
                try require(PQsendPrepare(pointer, name, text, 0, nil) == 1)
                steps.append(.prepare(name))
            }
            try send(call)
            steps.append(.call(index))
        }
        try require(PQpipelineSync(pointer) == 1)
        try flush()
        return steps
    }

    private func send(_ call: Call) throws(PostgresError) {
        let binds = EncodedBinds(call.binds)
        let count = binds.ranges.count
        let formats = [Int32](repeating: 1, count: count)
        let lengths = binds.ranges.map { Int32($0?.count ?? 0) }
        let isSent = binds.bytes.withUnsafeBytes { bytes in
            let values = binds.ranges.map { range in
                range.flatMap { bytes.baseAddress?.advanced(by: $0.lowerBound) }?
                    .assumingMemoryBound(to: CChar.self)
            }
            return PQsendQueryPrepared(
                pointer, call.statement.name, Int32(count), values, lengths, formats, 1)
        }
        try require(isSent == 1)
    }

    /// Receives the result of one step. If the step succeeded, the rows are passed to `use`.
    private func receive(
        _ use: (borrowing Rows) -> Void
    ) throws(PostgresError) -> PostgresError? {
        guard let result = try nextResult() else { throw broken }
        let rows = Rows(owning: result)
        var error: PostgresError?
        switch rows.status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK: use(rows)
        case PGRES_PIPELINE_ABORTED: break
        default: error = rows.error
        }
        // A null pointer marks the end of each step's results.
        while let extra = try nextResult() { PQclear(extra) }
        if isBroken { throw error ?? broken }
        return error
    }

    private func receiveSync() throws(PostgresError) -> PostgresError? {
        guard let result = try nextResult() else { throw broken }
        let rows = Rows(owning: result)
        return rows.status == PGRES_PIPELINE_SYNC ? nil : rows.error
    }

    /// Returns the next result, or `nil` after the last result of a step.
    private func nextResult() throws(PostgresError) -> OpaquePointer? {
        while PQisBusy(pointer) == 1 {
            try waitForSocket(POLLIN)
            try require(PQconsumeInput(pointer) == 1)
        }
        return PQgetResult(pointer)
    }

    /// Writes everything that is queued, and reads in between, so that neither side can block the other.
    private func flush() throws(PostgresError) {
        while true {
            let state = PQflush(pointer)
            if state == 0 { return }
            try require(state == 1)
            if try waitForSocket(POLLIN | POLLOUT) & POLLIN != 0 {
                try require(PQconsumeInput(pointer) == 1)
            }
        }
    }

    /// Waits until the socket is ready. Throws if the server has fallen silent.
    @discardableResult
    private func waitForSocket(_ wanted: Int32) throws(PostgresError) -> Int32 {
        var socket = pollfd(fd: PQsocket(pointer), events: Int16(wanted), revents: 0)
        let deadline = silenceLimit.map { monotonicMilliseconds() + $0 } ?? .max
        while true {
            let left = max(0, deadline - monotonicMilliseconds())
            let limit = pulse == nil ? left : min(left, Connection.pulsePause)
            let count = poll(&socket, 1, deadline == .max && pulse == nil ? -1 : Int32(limit))
            if count > 0 { return Int32(socket.revents) }
            if count < 0 { try require(errno == EINTR) }
            try requirePulse()
            if monotonicMilliseconds() >= deadline {
                throw PostgresError(.connection, serverMessage: PostgresError.silence)
            }
        }
    }

    private func requirePulse() throws(PostgresError) {
        if isGivenUp {
            throw PostgresError(.connection, serverMessage: "the connection was abandoned")
        }
    }

    private func require(_ isDone: Bool) throws(PostgresError) {
        if !isDone { throw broken }
    }

    func leavePipeline() throws(PostgresError) {
        try require(PQexitPipelineMode(pointer) == 1)
    }

    func enterPipeline() throws(PostgresError) {
        try require(PQenterPipelineMode(pointer) == 1)
    }

    var broken: PostgresError {
        PostgresError(.connection, serverMessage: String(cString: PQerrorMessage(pointer)))
    }
}

/// Owns libpq's connection object.
struct Handle: ~Copyable {
    let pointer: OpaquePointer

    init(_ settings: ConnectionSettings) throws(PostgresError) {
        if let addresses = Addresses(settings) {
            self.init(owning: try addresses.newestPrimary())
            return
        }
        let keywords = CStrings(settings.parameters.map(\.name))
        let values = CStrings(settings.parameters.map(\.value))
        guard let pointer = PQconnectdbParams(keywords.pointers, values.pointers, 1) else {
            throw PostgresError(.connection, serverMessage: "out of memory")
        }
        if PQstatus(pointer) != CONNECTION_OK {
            let message = String(cString: PQerrorMessage(pointer))
            PQfinish(pointer)
            throw PostgresError(.connection, serverMessage: message)
        }
        self.init(owning: pointer)
    }

    private init(owning pointer: OpaquePointer) {
        self.pointer = pointer
        PQsetnonblocking(pointer, 1)
        PQsetNoticeProcessor(pointer, ignoreNotice, nil)
        PQenterPipelineMode(pointer)
    }

    deinit {
        PQfinish(pointer)
    }
}

/// Ignores notices, which are meant for people at a terminal. Important messages arrive as errors.
private func ignoreNotice(_: UnsafeMutableRawPointer?, _: UnsafePointer<CChar>?) {}
