/// Why a webhook cannot be set, tested or replayed.
package enum WebhookRefusal: Worded, Hashable, Sendable {
    case unknown(WebhookID)
    case tooMany(limit: Int)
    case tooManyReplays(limit: Int)
    /// The reason why the installation's key cannot be used for the webhook's secrets.
    case locked(String)
    case eventUnknown(String)

    package var wording: RefusalWording {
        switch self {
        case .unknown(let id):
            .unknown("webhook_unknown", "The project has no webhook \"\(id)\".", .listWebhooks)
        case .tooMany(let limit):
            .conflict(
                "too_many_webhooks",
                "The project has \(limit) webhooks, which is the limit; remove one first.")
        case .tooManyReplays(let limit):
            .conflict(
                "too_many_replays",
                "The webhook has \(limit) replays under way, which is the limit; wait for one to end."
            )
        case .locked(let reason):
            .conflict(
                "webhook_locked", "The webhook's secrets cannot be opened or stored: \(reason).")
        case .eventUnknown(let id):
            .unknown(
                "event_unknown",
                "The feed has no event \"\(id)\" in the webhook's environment; copy its id from the feed or "
                    + "from a delivery.")
        }
    }
}
