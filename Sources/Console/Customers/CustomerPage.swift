import API
import Core
import HTTPServer
import JSON

/// The page with everything about a customer.
struct CustomerPage: ShownPage {
    private let look: CustomerLook

    private var stream: NamedStream { look.stream }
    private var room: ProjectRoom { look.stream.room }

    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        look = try CustomerLook(room, visit)
    }

    func response() -> Response {
        Page(
            title: stream.customer, visitor: room.visitor, room: room, content: content
        ).response()
    }

    private var content: Markup {
        """
        \(DoneLine(look: look).markup)
        \(environment)
        \(merged)
        \(acts)
        \(moments)
        \(Markup.section("entitlements", "What the customer may use", "\(entitlements)\(giving)"))
        \(TimelinePart(look: look).markup)
        \(NotePart(look: look).markup)
        \(GrantPart(look: look).markup)
        \(PurchasePart(look: look).markup)
        \(BalancePart(look: look).markup)
        \(AttemptPart(look: look).markup)
        \(EventPart(look: look).markup)
        """
    }

    private var environment: Markup {
        .environment(isSandbox: stream.isSandbox, other: stream.other.place)
    }

    private var merged: Markup {
        guard let whole = look.whole["merged_into"]?.string else { return .nothing }
        let place = NamedStream(room, whole, isSandbox: stream.isSandbox).place
        return """
            <p class="notice">This customer is now part of \(Markup.link(place, whole)).</p>
            """
    }

    private var acts: Markup {
        guard Act.grant.isAllowed(in: room) else {
            return "<p>Your role may look at everything here, but change nothing.</p>"
        }
        var links = [Markup.link(stream.below("attach"), Act.attach.title)]
        if isMerged { links.append(.link(stream.below("unmerge"), Act.unmerge.title)) }
        if ErasePage.isAllowed(in: room) {
            links.append(.link(stream.below("erase"), ErasePage.title))
        }
        return "<p class=\"acts\">\(links)</p>"
    }

    private var isMerged: Bool { look.whole["merged_into"]?.string != nil }

    /// Forms for the acts that support staff need most.
    private var giving: Markup {
        guard Act.grant.isAllowed(in: room), !isMerged else { return .nothing }
        let names = (look.whole["offered"]?.array ?? []).compactMap(\.string)
        let grant = Act.grant.choosing("entitlement", from: names.map { ($0, $0) })
        return """
            <article class="card doing"><h3>\(grant.title)</h3>
            \(grant.shortForm(at: stream.bare("grant"), in: stream, ["for": "P7D"]))
            </article>
            <article class="card doing"><h3>\(Act.merge.title)</h3>
            \(Act.merge.shortForm(at: stream.bare("merge"), in: stream))
            </article>
            """
    }

    /// A form for the page's two instants, and a sentence about them.
    private var moments: Markup {
        let isSet = look.at != nil || look.known != nil
        let open: Markup = isSet ? " open" : ""
        let at = look.whole["at"]?.string
        let now: Markup =
            isSet
            ? "<p class=\"notice\">You are not looking at the present. \(Markup.link(stream.place, "Back to the present"))</p>"
            : .nothing
        let sandbox: Markup =
            stream.isSandbox
            ? "<input type=\"hidden\" name=\"environment\" value=\"sandbox\">" : .nothing
        return """
            \(now)
            <details\(open)><summary>As of \(Markup.time(at))</summary>
            <form method="get" action="\(value: NamedStream(room, stream.customer, isSandbox: false).place.text)">
            \(sandbox)
            <p><label for="at">Show what applies at this instant, in UTC</label>
            <input id="at" name="at" type="datetime-local" step="0.001" value="\(value: local(look.at))"></p>
            <p><label for="known">based on what was known at this instant</label>
            <input id="known" name="known" type="datetime-local" step="0.001" value="\(value: local(look.known))"></p>
            <p><button>Show</button></p>
            </form></details>
            """
    }

    private func local(_ instant: String?) -> String { instant.map { String($0.dropLast()) } ?? "" }

    private var entitlements: Markup {
        if look.explanations.isEmpty {
            return """
                <p>Nothing now, and nothing earlier. If the customer has paid, search for the number in the store's e-mail or in the app.</p>
                """
        }
        let part = look.part(of: look.explanations, "entitlements")
        let articles = part.shown.map { answer -> Markup in
            let isActive = answer["answer"]?["active"]?.bool ?? false
            let mark = Markup.badge(isActive ? "access" : "no access", isGood: isActive)
            let words = answer["words"]?.array?.compactMap(\.string) ?? []
            let sentences: [Markup] = words.map { "<span>\(timed: $0)</span>" }
            let count = answer["more_words"]?.integer ?? 0
            let more: Markup =
                count > 0
                ? "<p>\(Int(count)) more sentences: deed customer explain</p>" : .nothing
            return """
                <article class="card"><h3>\(answer["entitlement"]?.string ?? "") \(mark)</h3>
                <p class="words">\(sentences)</p>\(more)</article>
                """
        }
        return "\(part.links)\(articles)"
    }
}
