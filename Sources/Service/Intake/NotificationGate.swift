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

    private let submissions: Submissions
    private let news: EvidenceKind
    private let signers = Mutex(Throttle(each: .newSigners, all: .allNewSigners))
    /// Of addresses from where genuine ones came.
    private let unproven = Mutex(Throttle(each: .unprovenNotifications))
    private let genuine = Mutex<Set<String>>([])
    /// How many such addresses are remembered.
    private static let limit = 10_000

    /// Of what a store tells by itself.
    package init(_ submissions: Submissions, of news: EvidenceKind) {
        self.submissions = submissions
        self.news = news
    }

    private var now: Instant { submissions.intake.ports.machineClock() }

    /// Costs next to nothing, as the thread that serves connections asks. Whose signature it is tells
    /// little: any stranger can copy a signer's certificates, and few can send from where genuine ones
    /// come from. `client` is `nil` for one that came over no connection: then nothing is counted.
    package func enter(from client: String?) -> Entry {
        guard let client else { return Entry(client: nil, isTrusted: true) }
        let isTrusted =
            genuine.withLock { $0.contains(client) }
            && unproven.withLock { $0.take(client, at: now) }
        return Entry(client: client, isTrusted: isTrusted)
    }

    /// The wish to record one when it is its turn.
    package func recording(
        _ bytes: [UInt8], _ entry: Entry
    ) throws(NotificationError) -> Wish<NotificationAnswer> {
        let bare = try rethrowing(
            as: NotificationError.unreadable, submissions.intake.bare(RawEvidence(news, bytes)))
        let isCounted = try count(bare, entry)
        do throws(NotificationError) {
            let wish = try submissions.recordingNotification(bare)
            noteGenuine(entry)
            return wish
        } catch {
            // Its certificates were not followed.
            if isCounted, case .unreadable = error, let client = entry.client {
                signers.withLock { $0.giveBack(client) }
            }
            throw error
        }
    }

    /// Whether it counts among those with new signers. It throws when there were too many of them, or when its
    /// signer was refused lately.
    private func count(_ bare: RawEvidence, _ entry: Entry) throws(NotificationError) -> Bool {
        switch submissions.intake.standing(of: bare) {
        case .believed, .missing: return false
        case .refused(let refusal): throw .unproven(refusal)
        case .unknown:
            guard let client = entry.client else { return false }
            guard signers.withLock({ $0.take(client, at: now) }) else { throw .throttled }
            return true
        }
    }

    /// The store signed it.
    package func noteGenuine(_ entry: Entry) {
        guard let client = entry.client else { return }
        if entry.isTrusted { unproven.withLock { $0.giveBack(client) } }
        genuine.withLock { genuine in
            // Stores send from few.
            if genuine.count >= NotificationGate.limit { genuine = [] }
            genuine.insert(client)
        }
    }
}
