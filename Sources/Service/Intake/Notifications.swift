package import Core

/// The result of receiving a store's notification.
package enum NotificationAnswer: Hashable, Sendable {
    /// The notification has been stored, along with any new facts.
    case kept(NotificationHead, Environment, isNew: Bool)
    /// The notification concerns only purchases that may never have a holder again. It is not stored.
    case erased(NotificationHead, Environment)
    /// The notification has been verified. It will take effect once Deed's clock reaches the time
    /// that the store states.
    case queued(IntakeID)
}

/// Why a notification was not accepted.
package enum NotificationError: Error, Hashable, Sendable {
    /// The notification is unreadable, so a second delivery would not help.
    case unreadable(RefusedEvidence)
    /// The notification does not provably come from the store.
    case unproven(RefusedEvidence)
    /// No project has the app yet.
    case unknownApp(AppID)
    /// Too many notifications with unknown signers have arrived, either from that address or in
    /// total.
    case throttled
    case fault(Fault)
}

extension Submissions {
    /// Returns a request to record a store's own notification. If its facts do not name the owner, the purchase waits
    /// for a customer who proves it.
    ///
    /// Any stranger can make this call, so the cheapest checks come first. A caller without the store's signature does
    /// not learn whether Deed knows the app.
    package func recordingNotification(
        _ raw: RawEvidence
    ) throws(NotificationError) -> Wish<NotificationAnswer> {
        let (raw, heading) = try opened(raw)
        let key = raw.key(of: heading.app)
        for isFirst in [true, false] {
            let app = apps.known(key)
            let proven: ProvenEvidence
            do throws(RefusedEvidence) {
                proven = try prove(raw, of: app?.project)
            } catch {
                if error.cure == .time { break }
                if !isFirst || error.cure != .settingTheApp { throw .unproven(error) }
                // Another instance may have just set or changed the app.
                try obtain(apps.refresh())
                if apps.known(key) == nil { throw .unknownApp(key.id) }
                continue
            }
            guard let app else { throw .unknownApp(key.id) }
            news.note(StoreApp(project: app.project, key: key))
            return try recording(proven, for: app.project)
        }
        let id = try queue(raw, heading, of: addressee(of: key).project)
        return .answered(.success(.queued(id)))
    }

    private func recording(
        _ proven: ProvenEvidence, for project: ProjectID
    ) throws(NotificationError) -> Wish<NotificationAnswer> {
        guard let head = proven.notification else { throw .unproven(.noNotification) }
        // A notification that concerns no purchase causes no event. Such a notification is new if
        // it was not stored before.
        var isFirst = false
        if proven.facts == Facts() {
            isFirst = try !obtain(intake.archive.hasBelieved(proven.record.digest))
        }
        let command = try command(recording: proven, head, for: project)
        return Wish<NotificationAnswer>(command) { [isFirst] outcome throws(CommandError) in
            notice(outcome, in: project)
            let results = outcome.items.map(\.result)
            if !results.isEmpty, results.allSatisfy({ $0 == .refused(.erasure(.purchaseErased)) }) {
                return .erased(head, proven.environment)
            }
            return .kept(
                head, proven.environment,
                isNew: isFirst || outcome.items.contains { $0.result != .alreadyKnown })
        }.then { result in
            // A customer of the account was merged at the same time. The store will send the notification again.
            guard case .failure(.refused(.customerMerged)) = result else {
                return .answered(result)
            }
            return .answered(.failure(.fault(.busy)))
        }
    }

    /// Returns the command to record a notification that was requested from the store. A notification that contains
    /// nothing new is not stored, because it may already be stored with a different time of signing.
    func replaying(
        _ proven: ProvenEvidence, for project: ProjectID
    ) throws(NotificationError) -> Command {
        guard let head = proven.notification else { throw .unproven(.noNotification) }
        var command = try command(recording: proven, head, for: project)
        command.evidence = command.evidence.map(\.keptWhenNew)
        return command
    }

    private func command(
        recording proven: ProvenEvidence, _ head: NotificationHead, for project: ProjectID
    ) throws(NotificationError) -> Command {
        let submission = Submission(
            [Submission.Item(index: 0, facts: proven.facts)], by: .store,
            concerned: try concerned(by: proven, in: project))
        return Command(
            submission, in: submission.stream(in: project, proven.environment),
            on: [proven.record], by: proven.kind.store.actor,
            cause: intake.secrets.cause(of: head, proven.record))
    }

    /// Returns the customers of the accounts that the notification names.
    private func concerned(
        by proven: ProvenEvidence, in project: ProjectID
    ) throws(NotificationError) -> [CustomerID] {
        var customers = Set<CustomerID>()
        for consent in proven.facts.consents {
            customers.formUnion(
                try obtain(
                    intake.accounts.customers(
                        of: consent.appTransaction, in: project, proven.environment,
                        limit: AccountAnswer.limit)))
        }
        return customers.sorted()
    }

    private func queue(
        _ raw: RawEvidence, _ heading: EvidenceHeading, of project: ProjectID
    ) throws(NotificationError) -> IntakeID {
        do throws(CommandError) {
            return try intake.hold(raw, .notification, order: nil, heading: heading, of: project).id
        } catch {
            switch error {
            // The queue is full. The store keeps the notification and will send it again.
            case .refused: throw .fault(.busy)
            case .fault(let fault): throw .fault(fault)
            }
        }
    }

    private func opened(
        _ raw: RawEvidence
    ) throws(NotificationError) -> (RawEvidence, EvidenceHeading) {
        let unreadable = NotificationError.unreadable
        let bare = try rethrowing(as: unreadable, intake.bare(raw))
        return (bare, try rethrowing(as: unreadable, intake.heading(of: bare)))
    }

    private func addressee(of key: AppKey) throws(NotificationError) -> ListedApp {
        let app = try obtain(apps.find(key))
        guard let app else { throw .unknownApp(key.id) }
        return app
    }

    private func obtain<Value>(
        _ value: @autoclosure () throws(Fault) -> Value
    ) throws(NotificationError) -> Value {
        try rethrowing(as: NotificationError.fault, value)
    }
}

extension Actor {
    /// The actor for the queue's worker.
    package static let intake = Actor(prefix: "deed:", random: "intake")
}

extension RefusedEvidence {
    fileprivate static let noNotification = RefusedEvidence(
        code: "wrong_kind", sentence: "The evidence is not a notification.")
}

extension Secrets {
    /// Returns the cause, which is the same for every repetition with the same content. A store may sign a notification
    /// again. The newer signature is then used.
    fileprivate func cause(of head: NotificationHead, _ record: EvidenceRecord) -> Cause {
        let content = digest(record.digest).hexDigits.prefix(16)
        // A store could one day write any text there, but the log accepts only printable text of
        // limited length.
        let isUsual = head.id.utf8.count <= 100 && (try? Identifier<Void>(head.id)) != nil
        let id = isUsual ? head.id : String(digest(Array(head.id.utf8)).hexDigits.prefix(32))
        return Cause(text: "notification:\(id)/\(content)", digest: record.digest)
    }
}
