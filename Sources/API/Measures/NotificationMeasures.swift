import Service
import Telemetry

/// The outcomes of stores' notifications, which arrive on the only route open to strangers.
struct NotificationMeasures: Sendable {
    enum Outcome: String, CaseIterable {
        case recorded, known, erased, queued, unreadable, unproven
        case unknownApp = "unknown_app"
        case unstored, throttled
    }
    private let counters: [Outcome: Counter]

    init(_ metrics: Metrics) {
        var counters: [Outcome: Counter] = [:]
        for outcome in Outcome.allCases {
            counters[outcome] = metrics.counter(
                "deed_notifications_total", "Notifications received from stores or from others.",
                labels: [("outcome", outcome.rawValue)])
        }
        self.counters = counters
    }

    func count(_ outcome: Outcome) { counters[outcome]?.add() }
}

extension NotificationMeasures.Outcome {
    init(_ answer: NotificationAnswer) {
        switch answer {
        case .kept(_, _, let isNew): self = isNew ? .recorded : .known
        case .erased: self = .erased
        case .queued: self = .queued
        }
    }

    init(_ error: NotificationError) {
        switch error {
        case .unreadable: self = .unreadable
        case .unproven: self = .unproven
        case .unknownApp: self = .unknownApp
        case .throttled: self = .throttled
        case .fault: self = .unstored
        }
    }
}
