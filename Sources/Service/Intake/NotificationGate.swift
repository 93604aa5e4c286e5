package import Core
import Synchronization

/// Decides where a notification is judged, and whether its certificates are checked. Anyone may
/// send notifications. Checking a signature costs ten times as much as a refusal, and checking new
/// certificates costs another hundred times as much.
package final class NotificationGate: Sendable {
    /// An incoming notification.
    package struct Entry: Sendable {
        fileprivate let client: String?
        /// Whether it is judged along with trusted work instead of in the strangers' room.
        package let isTrusted: Bool
    }

    private let submissions: Submissions
    private let news: EvidenceKind
    private let signers = Mutex(Throttle(each: .newSigners, all: .allNewSigners))
    /// Counts unproven notifications from addresses that have sent genuine ones.
    private let unproven = Mutex(Throttle(each: .unprovenNotifications))
    private let genuine = Mutex<Set<String>>([])
    /// How many such addresses are remembered.
    private static let limit = 10_000

    /// Guards a store's own notifications.
    package init(_ submissions: Submissions, of news: EvidenceKind) {
        self.submissions = submissions
        self.news = news
    }

    private var now: Instant { submissions.intake.machineClock() }

    /// Costs almost nothing, because the thread that serves connections calls it. The signer proves little:
    /// any stranger can copy a signer's certificates, but few can send from a genuine sender's address.
    /// `client` is `nil` for a notification without a connection, which is not counted.
    package func enter(from client: String?) -> Entry {
        guard let client else { return Entry(client: nil, isTrusted: true) }
        let isTrusted =
            genuine.withLock { $0.contains(client) }
            && unproven.withLock { $0.take(client, at: now) }
        return Entry(client: client, isTrusted: isTrusted)
    }

    /// A request to record a notification when its turn comes.
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
            // The notification's certificates were not checked.
            if isCounted, case .unreadable = error, let client = entry.client {
                signers.withLock { $0.giveBack(client) }
            }
            throw error
        }
    }

    /// Whether it counts as a notification with a new signer. Throws if there were too many of
    /// those, or if its signer was recently refused.
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

    /// Notes that the store signed the notification.
    package func noteGenuine(_ entry: Entry) {
        guard let client = entry.client else { return }
        if entry.isTrusted { unproven.withLock { $0.giveBack(client) } }
        genuine.withLock { genuine in
            // Stores send from only a few addresses.
            if genuine.count >= NotificationGate.limit { genuine = [] }
            genuine.insert(client)
        }
    }
}
