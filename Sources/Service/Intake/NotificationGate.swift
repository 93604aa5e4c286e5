package import Core
import Synchronization

/// Decides where a notification is looked at, and whether certificates are followed for it: strangers may
/// send them, a signature costs ten times what a refusal costs, and certificates that were not followed
/// before cost a hundred times that.
package final class NotificationGate: Sendable {
    /// One notification on its way in.
    package struct Entry: Sendable {
        fileprivate let client: String?
        /// Whether it is judged together with honest work, and not in the strangers' room.
        package let isTrusted: Bool
    }

    package enum Verdict: Sendable {
        /// It may be looked at. For some the certificates are then followed, which was counted.
        case open(RawEvidence, isCounted: Bool)
        /// Its signer was refused lately.
        case refused(RefusedEvidence)
        case unreadable(RefusedEvidence)
        /// Too many notifications with unknown signers came, from there or in all.
        case throttled
    }

    private let intake: Intake
    private let news: EvidenceKind
    private let chains = Throttle(
        each: .init(10, perSecond: 2), all: .init(60, perSecond: 20))
    /// Those of trusted addresses that are not known to be genuine, or not yet.
    private let unproven = Throttle(each: .init(200, perSecond: 10))
    private let genuine = Mutex<[String: Instant]>([:])
    /// Of how many addresses it is remembered that a genuine one came from there.
    private static let limit = 10_000

    /// Of what a store tells by itself.
    package init(_ intake: Intake, of news: EvidenceKind) {
        self.intake = intake
        self.news = news
    }

    /// Costs next to nothing, as the thread that serves connections asks. Whose signature it is tells
    /// little: any stranger can copy a signer's certificates, and few can send from where genuine ones
    /// come from. `client` is `nil` for one that came over no connection: then nothing is counted.
    package func enter(from client: String?) -> Entry {
        guard let client else { return Entry(client: nil, isTrusted: true) }
        let isTrusted =
            genuine.withLock { $0[client] != nil }
            && unproven.take(client, at: intake.ports.machineClock())
        return Entry(client: client, isTrusted: isTrusted)
    }

    /// Decides when it is the turn of one that waited.
    package func judge(_ bytes: [UInt8], _ entry: Entry) -> Verdict {
        do throws(RefusedEvidence) {
            let bare = try intake.bare(RawEvidence(news, bytes))
            switch intake.standing(of: bare) {
            case .believed, .missing: return .open(bare, isCounted: false)
            case .refused(let refusal): return .refused(refusal)
            case .unknown:
                guard let client = entry.client else { return .open(bare, isCounted: false) }
                return chains.take(client, at: intake.ports.machineClock())
                    ? .open(bare, isCounted: true) : .throttled
            }
        } catch {
            return .unreadable(error)
        }
    }

    /// The store signed it.
    package func noteGenuine(_ entry: Entry) {
        guard let client = entry.client else { return }
        if entry.isTrusted { unproven.giveBack(client) }
        let now = intake.ports.machineClock()
        genuine.withLock { genuine in
            if genuine[client] == nil, genuine.count >= NotificationGate.limit,
                let oldest = genuine.min(by: { $0.value < $1.value })
            {
                genuine[oldest.key] = nil
            }
            genuine[client] = now
        }
    }

    /// It was refused before its certificates were followed.
    package func noteUnfollowed(_ entry: Entry) {
        if let client = entry.client { chains.giveBack(client) }
    }
}
