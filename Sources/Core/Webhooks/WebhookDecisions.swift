extension ProjectState {
    package func webhook(_ id: WebhookID) -> Webhook? { webhooks.first { $0.id == id } }

    package func add(_ webhook: Webhook, to project: ProjectID) throws(Refusal) -> [Event] {
        if !exists { throw .projectUnknown(project) }
        if webhooks.count >= Webhook.countLimit {
            throw .webhook(.tooMany(limit: Webhook.countLimit))
        }
        return [.webhookSet(webhook)]
    }

    /// Changes a webhook. The log contains no header values, so an event has to show that they were
    /// set. A request that must be remembered also needs an event.
    package func change(
        _ id: WebhookID, _ change: WebhookChange, isRemembered: Bool
    ) throws(Refusal) -> [Event] {
        guard let known = webhook(id) else { throw .webhook(.unknown(id)) }
        let changed = change.applied(to: known)
        let isSilent = changed == known && change.headers == nil && !isRemembered
        return isSilent ? [] : [.webhookSet(changed)]
    }

    package func act(_ act: WebhookAct, on id: WebhookID) throws(Refusal) -> [Event] {
        guard let known = webhook(id) else { throw .webhook(.unknown(id)) }
        var changed = known
        switch act {
        case .pause: changed.isPaused = true
        case .resume:
            changed.isPaused = false
            changed.resumptions += 1
        case .rotate: changed.key += 1
        }
        return [.webhookSet(changed)]
    }

    package func remove(_ id: WebhookID) throws(Refusal) -> [Event] {
        if webhook(id) == nil { throw .webhook(.unknown(id)) }
        return [.webhookRemoved(WebhookRemoved(webhook: id))]
    }
}
