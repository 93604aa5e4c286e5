internal import CPostgres
import Glibc
import Threading

/// Picks a server if a URL names several: of the writable ones, the one that was promoted most recently. An old
/// primary that comes back also accepts writes.
struct Addresses {
    /// How many milliseconds the other servers have to answer after one has said that it accepts writes.
    private static let grace: Int64 = 300
    /// How many milliseconds the other servers have to answer after one has said that it is a
    /// standby, because another standby may be promoted meanwhile. The same limit applies if there
    /// is no earlier server to compare with.
    private static let patience: Int64 = 1000

    private let settings: ConnectionSettings
    private let hosts: [[(name: String, value: String)]]

    /// Returns `nil` if the URL has only one address, or if it specifies the kind of server.
    init?(_ settings: ConnectionSettings) {
        guard !settings.isAnyServerTaken, let given = Addresses.given(settings),
            given["target_session_attrs"].map({ ["read-write", "primary"].contains($0) }) ?? true
        else { return nil }
        let lists = ["host", "hostaddr", "port"].map { name in
            (name, given[name]?.split(separator: ",", omittingEmptySubsequences: false) ?? [])
        }
        let count = max(lists[0].1.count, lists[1].1.count)
        if count < 2 { return nil }
        hosts = (0..<count).map { place in
            lists.compactMap { name, values in
                if values.isEmpty { return nil }
                // A single port applies to all hosts.
                let value =
                    values.count == 1 ? values[0] : place < values.count ? values[place] : ""
                return (name, String(value))
            }
        }
        self.settings = settings
    }

    /// Returns the parameters in the URL, or those from the environment and a service file if the URL names no host.
    private static func given(_ settings: ConnectionSettings) -> [String: String]? {
        guard let options = PQconninfoParse(settings.url, nil) else { return nil }
        let parameters = taken(options)
        let namesHost = parameters["host"] != nil || parameters["hostaddr"] != nil
        let isElsewhere =
            parameters["service"] != nil
            || ["PGHOST", "PGHOSTADDR", "PGSERVICE"].contains { (name: String) in
                getenv(name) != nil
            }
        if namesHost || !isElsewhere { return parameters }
        // libpq reads the environment and the files when it starts to connect, and then reports what it has found.
        let keywords = CStrings(settings.parameters.map(\.name))
        let values = CStrings(settings.parameters.map(\.value))
        let attempt = PQconnectStartParams(keywords.pointers, values.pointers, 1)
        defer { PQfinish(attempt) }
        return PQconninfo(attempt).map(taken) ?? parameters
    }

    /// Returns the parameters that have a value, and frees the options.
    static func taken(
        _ options: UnsafeMutablePointer<PQconninfoOption>
    ) -> [String: String] {
        defer { PQconninfoFree(options) }
        var parameters: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                parameters[String(cString: keyword)] = String(cString: value)
            }
            option = option.successor()
        }
        return parameters
    }

    /// Queries the servers at all addresses at the same time, and returns a connection to the newest primary.
    func newestPrimary() throws(PostgresError) -> OpaquePointer {
        let candidates = hosts.map { Candidate(settings, at: $0) }
        var deadline = monotonicMilliseconds() + Int64(settings.connectTimeoutSeconds) * 1000
        while candidates.contains(where: \.isUnderway) {
            let time = monotonicMilliseconds()
            if time >= deadline { break }
            Addresses.advance(candidates, within: deadline - time)
            if candidates.contains(where: \.takesWrites) {
                let hasMet = settings.pulse?.hasMet ?? false
                let grace = hasMet ? Addresses.grace : Addresses.patience
                deadline = min(deadline, monotonicMilliseconds() + grace)
            } else if candidates.contains(where: \.isStandby) {
                deadline = min(deadline, monotonicMilliseconds() + Addresses.patience)
            }
        }
        let primaries = candidates.filter(\.takesWrites)
        let newest = primaries.map(\.timeline).max()
        if let chosen = primaries.first(where: { $0.timeline == newest }),
            let pointer = chosen.take()
        {
            return pointer
        }
        throw PostgresError(
            .connection, serverMessage: candidates.map(\.account).joined(separator: "; "))
    }

    private static func advance(_ candidates: [Candidate], within milliseconds: Int64) {
        let underway = candidates.filter(\.isUnderway)
        var sockets = underway.map(\.descriptor)
        let count = poll(&sockets, nfds_t(sockets.count), Int32(clamping: milliseconds))
        if count <= 0 { return }
        for (candidate, socket) in zip(underway, sockets) where socket.revents != 0 {
            candidate.advance()
        }
    }
}

/// One address. Its server is asked whether it accepts writes and how often it was promoted.
private final class Candidate {
    private enum Stage {
        case connecting(PostgresPollingStatusType)
        case asking
        case answered(timeline: Int64?)
        case failed(String)
    }
    /// A server's timeline counts its promotions. A standby reports no timeline. If the login may
    /// not read the timeline, all servers count as equal.
    private static let question = """
        select pg_is_in_recovery();
        select case when pg_is_in_recovery() then null else
            ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint end
        """

    private var pointer: OpaquePointer?
    private var stage = Stage.connecting(PGRES_POLLING_WRITING)
    private var heardStandby: Bool?
    private var heardTimeline: Int64 = 0
    private let name: String

    init(_ settings: ConnectionSettings, at host: [(name: String, value: String)]) {
        name = host.map(\.value).joined(separator: ":")
        let parameters = settings.parameters + host + [("target_session_attrs", "any")]
        let keywords = CStrings(parameters.map(\.name))
        let values = CStrings(parameters.map(\.value))
        pointer = PQconnectStartParams(keywords.pointers, values.pointers, 1)
        if PQstatus(pointer) == CONNECTION_BAD { fail() }
    }

    deinit { PQfinish(pointer) }

    var isUnderway: Bool {
        switch stage {
        case .connecting, .asking: true
        case .answered, .failed: false
        }
    }

    var takesWrites: Bool {
        if case .answered(.some) = stage { true } else { false }
    }

    var isStandby: Bool {
        if case .answered(nil) = stage { true } else { false }
    }

    var timeline: Int64 {
        if case .answered(let timeline?) = stage { timeline } else { 0 }
    }

    /// The candidate's result, in a form for people to read.
    var account: String {
        switch stage {
        case .connecting, .asking: "\(name) does not answer"
        case .answered(nil): "\(name) is a standby"
        case .answered: "\(name) takes writes"
        case .failed(let message): "\(name): \(message)"
        }
    }

    var descriptor: pollfd {
        var events = Int16(POLLIN)
        if case .connecting(PGRES_POLLING_WRITING) = stage { events = Int16(POLLOUT) }
        return pollfd(fd: PQsocket(pointer), events: events, revents: 0)
    }

    func advance() {
        switch stage {
        case .connecting:
            let status = PQconnectPoll(pointer)
            switch status {
            case PGRES_POLLING_OK:
                stage = .asking
                if PQsendQuery(pointer, Candidate.question) != 1 { fail() }
            case PGRES_POLLING_FAILED: fail()
            default: stage = .connecting(status)
            }
        case .asking:
            if PQconsumeInput(pointer) != 1 { return fail() }
            if PQisBusy(pointer) == 0 { hear() }
        case .answered, .failed: break
        }
    }

    /// Processes the results as they arrive: first whether the server is a standby, then its timeline.
    private func hear() {
        while PQisBusy(pointer) == 0 {
            guard let result = PQgetResult(pointer) else {
                if let heardStandby {
                    stage = .answered(timeline: heardStandby ? nil : heardTimeline)
                }
                return heardStandby == nil ? fail() : ()
            }
            let rows = Rows(owning: result)
            guard rows.status == PGRES_TUPLES_OK else { continue }
            if heardStandby == nil {
                heardStandby = rows.text(0, 0) == "t"
            } else {
                heardTimeline = rows.optionalText(0, 0).flatMap { Int64($0) } ?? 0
            }
        }
    }

    private func fail() {
        stage = .failed(
            String(cString: PQerrorMessage(pointer)).split(separator: "\n").joined(separator: " "))
    }

    /// Returns the connection, which the caller must close.
    func take() -> OpaquePointer? {
        defer { pointer = nil }
        return pointer
    }
}
