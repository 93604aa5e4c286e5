import Core
import JSON
import Outbound
import Telemetry

extension Deliverer {
    func settle(_ letter: Mailbox.Letter) {
        let isReplay = letter.line.replay != nil
        underWay[isReplay, default: 1] -= 1
        // The service is stopping, so the message may or may not have arrived.
        if case .failure(.cancelled) = letter.answer { return }
        let now = ports.machineClock()
        let end = AttemptEnd(letter.answer, hiding: letter.headers, at: now)
        // What the receiver answered to erased content goes, too.
        note(letter, end, isStored: !outbox.isOutdated(letter.line))
        if end.isDelivered {
            place.failingSince = nil
            outbox.pass(letter.line)
            if let replay = letter.line.replay { replays[replay]?.note(isSent: true) }
            return
        }
        if end.status == 410 {
            place.goneAt = now
            ports.log.error("webhook_gone", ["webhook": .string(name.id.text)])
        }
        let rest = end.retryAfter.map { now.advanced(byMilliseconds: $0) }
        place.restsUntil = [place.restsUntil, rest].compactMap(\.self).max()
        if isReplay { return retryReplay(letter) }
        let since = place.failingSince ?? now
        place.failingSince = since
        let due = due(after: letter.attempt)
        // A receiver can request a longer pause, but not a shorter one.
        outbox.hold(
            letter.line, attempts: letter.attempt, until: due.map { [$0, rest ?? $0].max() ?? $0 })
        if due == nil {
            let isWhole =
                now.milliseconds - since.milliseconds >= ports.retries.whole * 9 / 10
            if isWhole { place.parkedAt = now }
            tellParked(letter.line.customer, since, isWhole: isWhole)
        }
    }

    private func tellParked(_ customer: CustomerID, _ since: Instant, isWhole: Bool) {
        ports.log.error(
            "webhook_parked",
            [
                "webhook": .string(name.id.text), "project": .string(name.project.text),
                "customer": .string(customer.text), "whole": .bool(isWhole),
                "failing_since": .string(since.text),
                "remedy": .string("repair the receiver, then: deed webhook resume \(name.id)"),
            ])
    }

    /// Makes customers with an unreadable event wait, like customers whose message failed.
    func holdUnreadable() {
        for (customer, attempts) in outbox.takeUnreadable() {
            let due = due(after: attempts)
            outbox.postpone(customer, attempts: attempts, until: due)
            noteProgress()
            if due == nil { tellParked(customer, ports.machineClock(), isWhole: false) }
        }
    }

    /// Ends pauses that are longer than any that Deed makes, because they began while a clock was ahead. A pause only
    /// gets shorter, so one look is enough at the start, and another whenever the clock was set back.
    func endVoidPauses() {
        let now = ports.machineClock()
        defer { comparedAt = now }
        if comparedAt <= now { return }
        let longestRest = now.advanced(byMilliseconds: AttemptEnd.longestRest)
        if let rest = place.restsUntil, rest > longestRest {
            place.restsUntil = nil
            noteProgress()
        }
        if let since = place.failingSince, since > now {
            place.failingSince = now
            noteProgress()
        }
        let longest = max(longestRest, now.advanced(byMilliseconds: ports.retries.longest))
        for (customer, known) in outbox.waiting where !known.isLoaded {
            guard let due = known.row.dueAt, due > longest else { continue }
            outbox.postpone(customer, attempts: known.row.attempts, until: now)
            noteProgress()
        }
    }

    private func note(_ letter: Mailbox.Letter, _ end: AttemptEnd, isStored: Bool) {
        ports.measures.count(end.isDelivered)
        noteProgress()
        if !isStored { return }
        place.attempts += 1
        let message = letter.entry.message
        attempts.append(
            WebhookAttempt(
                message: message.id, type: message.type, customer: letter.line.customer,
                attempt: letter.attempt, at: letter.at, milliseconds: letter.milliseconds,
                status: end.status.map(Int64.init), error: end.error, answer: end.answer,
                replay: letter.line.replay, number: place.attempts))
    }
}
