package import Core
import Synchronization

/// Decides which notifications are looked at, in which room, before any signature is: anybody may send
/// them, and to follow certificates that nobody has followed yet costs a thousand times what a
/// refusal costs.
package final class NotificationGate: Sendable {
    package enum Verdict: Sendable {
        /// Its signer was believed lately: it costs one look.
        case proven(RawEvidence)
        /// It may be looked at, in its turn.
        case strange(RawEvidence, Ticket)
        /// Its signer was refused lately.
        case refused(RefusedEvidence)
        case unreadable(RefusedEvidence)
        /// More came than may, from there or from everywhere.
        case throttled
    }

    /// Held while a notification of an unknown signer waits and is looked at. Several of the same
    /// signer cost what one does: the first one tells of all.
    package final class Ticket: Sendable {
        /// Whether it may be looked at without being counted any more.
        fileprivate let isPaid: Bool
        /// Whether it was counted.
        fileprivate let isCounted: Atomic<Bool>
        private let end: @Sendable () -> Void

        fileprivate init(
            isPaid: Bool, isCounted: Bool = false, end: @escaping @Sendable () -> Void = {}
        ) {
            self.isCounted = Atomic(isCounted)
            self.isPaid = isPaid
            self.end = end
        }

        deinit { end() }
    }

    /// A longer one is opened in its turn, too.
    private static let quickBytes = 32 << 10

    private let ports: Ports
    private let chains = Throttle(
        each: .init(10, perSecond: 2), all: .init(60, perSecond: 20))
    private let refusals = Throttle(each: .init(50, perSecond: 10))
    private let waiting = Mutex<[[UInt8]: Int]>([:])

    package init(_ ports: Ports) {
        self.ports = ports
    }

    /// `client` is where the notification comes from, and `nil` where it came over no connection: then
    /// nothing is counted.
    package func judge(_ bytes: [UInt8], from client: String?) -> Verdict {
        let raw = RawEvidence(.notification, bytes, rank: .notification)
        if bytes.count > NotificationGate.quickBytes {
            return .strange(raw, Ticket(isPaid: false))
        }
        do throws(RefusedEvidence) {
            let bare = try ports.evidence.bare(raw)
            switch ports.evidence.standing(bare) {
            case .believed:
                // Maybe somebody else's certificates under a signature of his own.
                let isTrusted = client.map { refusals.allows($0, at: ports.machineClock()) } ?? true
                return isTrusted ? .proven(bare) : .strange(bare, Ticket(isPaid: true))
            case .refused(let refusal): return .refused(refusal)
            case .unknown(let header):
                return ticket(for: header, client).map { .strange(bare, $0) } ?? .throttled
            case .missing: return .strange(bare, Ticket(isPaid: true))
            }
        } catch {
            return .unreadable(error)
        }
    }

    /// Decides again when it is the turn of one that waited: it may be told by now what it costs.
    package func rejudge(_ raw: RawEvidence, _ ticket: Ticket, from client: String?) -> Verdict {
        do throws(RefusedEvidence) {
            let bare = try ports.evidence.bare(raw)
            switch ports.evidence.standing(bare) {
            case .believed, .missing: return .proven(bare)
            case .refused(let refusal): return .refused(refusal)
            // Where others of the same signer told nothing, it counts like any other.
            case .unknown:
                if ticket.isPaid { return .proven(bare) }
                guard mayFollow(client) else { return .throttled }
                ticket.isCounted.store(true, ordering: .relaxed)
                return .proven(bare)
            }
        } catch {
            return .unreadable(error)
        }
    }

    /// It was refused before anybody followed its certificates.
    package func noteUnused(_ ticket: Ticket, from client: String?) {
        if let client, ticket.isCounted.load(ordering: .relaxed) { chains.giveBack(client) }
    }

    /// One more from there was not proven.
    package func noteRefusal(from client: String?) {
        if let client { _ = refusals.take(client, at: ports.machineClock()) }
    }

    private func mayFollow(_ client: String?) -> Bool {
        client.map { chains.take($0, at: ports.machineClock()) } ?? true
    }

    private func ticket(for header: [UInt8], _ client: String?) -> Ticket? {
        let isFirst = waiting.withLock { $0[header] == nil }
        if isFirst, !mayFollow(client) { return nil }
        waiting.withLock { $0[header, default: 0] += 1 }
        return Ticket(isPaid: isFirst, isCounted: isFirst) { [weak self] in
            self?.waiting.withLock { waiting in
                let left = waiting[header, default: 0] - 1
                waiting[header] = left > 0 ? left : nil
            }
        }
    }
}
