import Core
import JSON

/// An event as a sentence.
struct EventWords {
    /// The event, as it appears in the list of the customer's events.
    let event: JSON

    private var data: JSON? { event["data"] }
    private var kind: String { event["type"]?.string ?? "event" }

    var sentence: String {
        if event["erased"]?.bool == true { return "\(kind); its content was erased." }
        let what = EventType(named: kind)?.sentence?.text(of: Members(data: data))
        return (what ?? kind.spaced) + because + "."
    }

    private var because: String {
        let cause = data?["cause"]
        let reason = data?["reason"]?.string ?? cause?["reason"]?.string
        let ticket = data?["ticket"]?.string ?? cause?["ticket"]?.string
        return (reason.map { ": \($0)" } ?? "") + (ticket.map { " (\($0))" } ?? "")
    }
}

private struct Members: EventMembers {
    let data: JSON?

    func text(_ name: String) -> String? { data?[name]?.string }
    func flag(_ name: String) -> Bool { data?[name]?.bool == true }
    func integer(_ name: String) -> Int64 { data?[name]?.integer ?? 0 }
}
