package import Core
import Synchronization

/// Decides how urgently a notification is judged, and whether its certificates are checked. Anyone
/// may send notifications. Checking a signature costs ten times as much as a refusal, and checking
/// new certificates costs a hundred times as much as checking a signature.
package final class NotificationGate: Sendable {
    /// An incoming notification.
    package struct Entry: Sendable {
        fileprivate let client: String?
        /// Whether the notification is judged along with trusted work rather than strangers' calls.
        package let isTrusted: Bool
    }

    private let submissions: Submissions
    private let news: EvidenceKind
    private let signers = Mutex(Throttle(each: .newSigners, all: .allNewSigners))
    /// Counts unverified notifications from addresses that have sent genuine ones.
    private let unproven = Mutex(Throttle(each: .unprovenNotifications))
    private let genuine = Mutex<Set<String>>([])
    /// The maximum number of remembered addresses.
    private static let limit = 10_000

    /// Creates a gate for a store's own notifications.
    package init(_ submissions: Submissions, of news: EvidenceKind) {
        self.submissions = submissions
        self.news = news
    }

    private var now: Instant { submissions.intake.machineClock() }

    /// Admits a notification. Does almost no work, because the thread that serves connections calls it. The signer
    /// alone proves little: any stranger can copy a signer's certificates, but few can send from a genuine sender's
    /// address. `client` is `nil` for a notification without a connection, which is not counted.
    package func enter(from client: String?) -> Entry {
        guard let client else { return Entry(client: nil, isTrusted: true) }
        let isTrusted =
            genuine.withLock { $0.contains(client) }
            && unproven.withLock { $0.take(client, at: now) }
        return Entry(client: client, isTrusted: isTrusted)
    }

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
            // The notification was unreadable before its certificates were checked, so it does not
            // count as one with a new signer.
            if isCounted, case .unreadable = error, let client = entry.client {
                signers.withLock { $0.giveBack(client) }
            }
            throw error
        }
    }

    /// Returns whether the notification counts as one with a new signer. Throws if there were too many of those,
    /// or if this signer was recently refused.
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

    /// Records that the store signed the notification.
    package func noteGenuine(_ entry: Entry) {
        guard let client = entry.client else { return }
        if entry.isTrusted { unproven.withLock { $0.giveBack(client) } }
        genuine.withLock { genuine in
            // Starts over once there are too many addresses, because stores send from only a few.
            if genuine.count >= NotificationGate.limit { genuine = [] }
            genuine.insert(client)
        }
    }
}
