package import Core

/// The result of a merge or of an undone merge.
package struct MergeAnswer: Hashable, Sendable {
    /// The event in the merged customer's stream, usually in production.
    package let recorded: RecordedEvent
    package let position: Position
}

/// Merges two ids of the same person, and undoes merges.
package struct Merges: Sendable {
    let ledger: any EventLog
    let secrets: Secrets

    /// Returns a request to merge the stream's customer into another one, in both environments. `isOfBackEnd` says
    /// whether a back end sent the request.
    package func merging(
        _ stream: Stream, into customer: CustomerID, reason: AdminReason, isOfBackEnd: Bool,
        by sender: Sender
    ) -> Wish<MergeAnswer> {
        let cause = secrets.cause(
            of: sender, "merge", [customer.text, reason.reason.text, reason.ticket?.text])
        let wish = MergeCustomer(
            stream.customer, into: customer, reason: reason.reason, ticket: reason.ticket,
            isOfBackEnd: isOfBackEnd)
        return answer(
            command(stream.inProduction, with: customer, sender.actor, cause) {
                situation throws(Refusal) in
                try wish.decide(situation)
            })
    }

    /// Returns a request to undo the merge of the stream's customer.
    package func undoing(
        _ stream: Stream, reason: AdminReason, by sender: Sender
    ) -> Wish<MergeAnswer> {
        let cause = secrets.cause(
            of: sender, "undo_merge", [reason.reason.text, reason.ticket?.text])
        return undoing(stream, reason, sender.actor, cause, attempts: 3)
    }

    private func undoing(
        _ stream: Stream, _ reason: AdminReason, _ actor: Actor, _ cause: Cause, attempts: Int
    ) -> Wish<MergeAnswer> {
        Wish<MergeAnswer>.look { () throws(CommandError) in
            // If the customer was erased in one environment, the merge may be left only in the
            // other one.
            var stream = stream.inProduction
            var whole = try obtain(ledger.customer(of: stream)).customer.mergedInto
            let elsewhere = try obtain(ledger.customer(of: stream.inSandbox)).customer.mergedInto
            if whole == nil, elsewhere != nil { (stream, whole) = (stream.inSandbox, elsewhere) }
            let wish = UndoMerge(
                stream.customer, partOf: whole, reason: reason.reason, ticket: reason.ticket)
            let undo = answer(
                command(stream, with: whole, actor, cause) { situation throws(Refusal) in
                    try wish.decide(situation)
                })
            return recalling(cause, of: actor, in: stream.inOtherEnvironment, otherwise: undo)
        }.then { result in
            guard attempts > 1,
                case .failure(.refused(.mergedMeanwhile(stream.customer))) = result
            else { return .answered(result) }
            return undoing(stream, reason, actor, cause, attempts: attempts - 1)
        }
    }

    /// Returns the answer of an earlier copy of the call that found the merge only in this environment. If there was
    /// none, goes on with the wish.
    private func recalling(
        _ cause: Cause, of actor: Actor, in stream: Stream, otherwise wish: Wish<MergeAnswer>
    ) -> Wish<MergeAnswer> {
        if !Cause.isOfCaller(cause.text) { return wish }
        let recall = Command(
            stream: stream, actor: actor, cause: cause, concernsMerged: true
        ) { _ throws(Refusal) in throw .merge(.notMerged(stream.customer)) }
        return answer(recall).then { result in
            switch result {
            case .success, .failure(.fault), .failure(.refused(.erasure(.doneBeforeErasure))):
                .answered(result)
            case .failure(.refused): wish
            }
        }
    }

    private func command(
        _ stream: Stream, with other: CustomerID?, _ actor: Actor, _ cause: Cause,
        decide: @escaping Command.Decide
    ) -> Command {
        var command = Command(
            stream: stream, actor: actor, cause: cause, concernsMerged: true, decide: decide)
        // An attempt to merge a customer into itself has already been refused.
        command.customers = [other].compactMap(\.self).filter { $0 != stream.customer }
        command.customersElsewhere = [stream.customer] + command.customers
        command.movesWhole = true
        return command
    }

    private func answer(_ command: Command) -> Wish<MergeAnswer> {
        Wish(command, telling: \.mergedWith, missing: "a merge recorded nothing") { recorded in
            MergeAnswer(recorded: recorded.event, position: recorded.last)
        }
    }
}

extension Event {
    /// The other customer, the reason and the time of a merge or an undone merge. Set only for
    /// events in the merged customer's stream.
    package var mergedWith: (customer: CustomerID, why: AdminReason, at: Instant)? {
        guard let act = mergeAct else { return nil }
        let why = AdminReason(reason: act.reason, ticket: act.ticket)
        return switch self {
        case .customerMerged(let merged): (merged.into, why, act.at)
        case .customerUnmerged(let unmerged): (unmerged.from, why, act.at)
        default: nil
        }
    }
}
