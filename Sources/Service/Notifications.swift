package import Core

/// What came of a store's notification.
package struct NotificationAnswer: Hashable, Sendable {
    package let notification: NotificationHead
    package let environment: Environment
    /// Whether it told anything new; it is kept in either case.
    package let isNew: Bool
}

/// Why a notification is not taken.
package enum NotificationError: Error, Hashable, Sendable {
    /// It cannot be read, so that sending it again is of no use.
    case unreadable(RefusedEvidence)
    /// It is not proven to be the store's.
    case unproven(RefusedEvidence)
    /// No project has the app, so far.
    case unknownApp(AppID)
    case fault(Fault)
}

extension Submissions {
    /// The wish to record what a store tells by itself. Whose it is, the facts tell, or whoever
    /// proves the purchase later.
    ///
    /// Anybody may call: so what costs least is looked at first, and a signature is verified only
    /// for an app that there is.
    package func recordingNotification(
        _ bytes: [UInt8]
    ) throws(NotificationError) -> Wish<NotificationAnswer> {
        let raw = RawEvidence(.notification, bytes, rank: .notification)
        let app = try addressee(of: raw)
        let proven: ProvenEvidence
        do throws(RefusedEvidence) {
            proven = try prove(raw, of: app.project)
        } catch {
            throw .unproven(error)
        }
        guard let head = proven.notification else {
            throw .fault(.broken("a notification was proven and says nothing of itself"))
        }
        let submission = Submission(
            [Submission.Item(index: 0, facts: proven.facts)], by: .store)
        let stream = Stream(
            project: app.project, environment: proven.environment,
            customer: submission.keepers.first ?? .nobody)
        let command = Command(
            submission, in: stream, on: [proven.record], by: .appStore,
            cause: ports.secrets.cause(of: head, proven.record))
        return Wish(command) { outcome throws(CommandError) in
            NotificationAnswer(
                notification: head, environment: proven.environment,
                isNew: outcome.items.contains { $0.result != .alreadyKnown })
        }
    }

    private func addressee(of raw: RawEvidence) throws(NotificationError) -> ListedApp {
        let heading: EvidenceHeading
        do throws(RefusedEvidence) {
            heading = try ports.evidence.heading(raw)
        } catch {
            throw .unreadable(error)
        }
        do throws(Fault) {
            if let app = try apps.find(AppKey(id: heading.app)) { return app }
        } catch {
            throw .fault(error)
        }
        throw .unknownApp(heading.app)
    }
}

extension Actor {
    fileprivate static let appStore = Actor(prefix: "store:", random: "apple")
}

extension SecretsPort {
    /// The same for every repetition with the same content. A store may sign one notification anew,
    /// and the newer signature then counts.
    fileprivate func cause(of head: NotificationHead, _ record: EvidenceRecord) -> Cause {
        let content = hexDigest(record.digest).prefix(16)
        // Whatever a store may write there one day, the log takes printable text of a bounded length.
        let isUsual = head.id.utf8.count <= 100 && (try? Identifier<Void>(head.id)) != nil
        let id = isUsual ? head.id : String(hexDigest(Array(head.id.utf8)).prefix(32))
        return Cause(text: "notification:\(id)/\(content)", digest: record.digest)
    }
}
