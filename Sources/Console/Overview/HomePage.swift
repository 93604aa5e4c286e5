import API
import Core
import HTTPServer
import JSON

/// A project's first page: what needs attention, and a way to find a customer.
struct HomePage {
    /// The maximum number of entitlements, and of products, among the figures.
    private static let figureLimit = 10

    let room: ProjectRoom

    func response() -> Response {
        Page(
            title: room.project.text, visitor: room.visitor, room: room,
            content: """
                \(needs)
                \(lastNight)
                \(webhooks)
                \(waiting)
                \(figures)
                \(finding)
                """
        ).response()
    }

    /// Returns a section with the call's answer, or nothing if the role may not make the call. A fault in one section
    /// does not affect the others.
    private func part(
        _ path: String, _ title: StaticString, _ id: StaticString, _ content: (JSON) -> Markup
    ) -> Markup {
        guard room.maySee(path) else { return .nothing }
        do throws(Problem) {
            return .section(id, title, content(try room.send(InnerCall("GET", path))))
        } catch {
            return .section(id, title, Markup.alert(error.told(in: room)))
        }
    }

    private var needs: Markup {
        part("/status", "What needs attention", "needs") { answer in
            let needs = answer["needs"]?.array ?? []
            if needs.isEmpty { return "<p>All is well: nothing needs attention.</p>" }
            return "\(needs.map(need))"
        }
    }

    private func need(_ need: JSON) -> Markup {
        let isWrong = need["wrong"]?.bool ?? false
        let mark: Markup =
            isWrong
            ? "<span class=\"badge no\">wrong</span>" : "<span class=\"badge\">to do</span>"
        let commands: [Markup] = (need["commands"]?.array ?? []).map {
            "<li><code>\($0.string ?? "")</code></li>"
        }
        let list: Markup = commands.isEmpty ? .nothing : "<ul>\(commands)</ul>"
        return """
            <article class="card"><h3>\((need["code"]?.string ?? "").spaced) \(mark)</h3>
            <p>\(timed: need["detail"]?.string ?? "")</p><p>\(timed: need["remedy"]?.string ?? "")</p>\(list)
            </article>
            """
    }

    private var lastNight: Markup {
        part("/reconciliations", "The last reconciliation", "reconciliation") { answer in
            let all = (answer["reconciliations"]?.array ?? []).newestFirst(by: "started_at")
            guard let run = all.first else {
                return """
                    <p>The log has not been compared with the clock and the stores yet. An operator can start a reconciliation with: <code>deed reconcile</code>, or daily with <code>deed serve --reconcile-at</code></p>
                    """
            }
            guard run["finished_at"]?.string != nil else {
                return
                    "<p>The reconciliation began at \(Markup.time(run["started_at"]?.string)) and is still running.</p>"
            }
            let errors = (run["errors"]?.array ?? []).compactMap(\.string)
            let drift = run["drift"]?.integer ?? 0
            let found: Markup =
                drift == 0 ? "It found nothing wrong." : "It found \(Int(drift)) differences."
            let items: [Markup] = errors.prefix(20).map { "<li>\(timed: $0)</li>" }
            let list: Markup = items.isEmpty ? .nothing : "<ul>\(items)</ul>"
            return
                "<p>The reconciliation ended at \(Markup.time(run["finished_at"]?.string)). \(found)</p>\(list)"
        }
    }

    private var webhooks: Markup {
        part("/webhooks", "Webhooks", "webhooks") { answer in
            let all = answer["webhooks"]?.array ?? []
            if all.isEmpty { return "<p>There are no webhooks.</p>" }
            let late = all.filter { $0.isLate }
            let words: Markup =
                late.isEmpty
                ? "<p>All \(all.count) webhooks are up to date.</p>"
                : "<p class=\"notice\">\(late.count) of \(all.count) are behind.</p>"
            return "\(words)<p>\(Markup.link(room.webhooks, "All webhooks"))</p>"
        }
    }

    /// The number of entries on the first page of each list, for production only.
    private var waiting: Markup {
        let lists: [(path: String, member: String, words: String, place: Place)] = [
            ("/unclaimed", "purchases", "purchases that no customer claimed", room.unclaimed),
            ("/refund_requests", "requests", "requested refunds", room.refunds),
        ]
        let lines: [Markup] = lists.compactMap { list in
            guard room.maySee(list.path),
                let answer = try? room.send(InnerCall("GET", list.path, query: "limit=100"))
            else { return nil }
            let count = answer[list.member]?.array?.count ?? 0
            let isMore = answer["next"]?.string != nil
            let words = "\(count)\(isMore ? " or more" : "") \(list.words) in production"
            return "<li>\(Markup.link(list.place, words))</li>"
        }
        if lines.isEmpty { return .nothing }
        return .section("waiting", "What waits", "<ul>\(lines)</ul>")
    }

    /// A short form of production's figures. The figures' page has the tables, the files and the explanations.
    private var figures: Markup {
        part("/figures", "Figures of production", "figures") { answer in
            let counted = answer["at"]?.string == nil ? Markup.nothing : brief(answer)
            let link = Markup.link(room.figures, "All figures, and what each counts")
            return "\(FiguresPage.asOf(answer))\(counted)<p>\(link)</p>"
        }
    }

    private func brief(_ answer: JSON) -> Markup {
        let tables = [Figure.entitlements, .products].map { figure -> Markup in
            let rows = figure.rows(answer).prefix(HomePage.figureLimit).map { $0.map(Markup.text) }
            return rows.isEmpty
                ? .nothing : .table(figure.columns, rows, caption: "\(figure.title)")
        }
        let counts: [Markup] = [Figure.ending, .refunds].map { figure in
            "<li>\(Markup(stringLiteral: figure.title)): \(Int(figure.count?(answer) ?? 0))</li>"
        }
        return "\(tables)<ul>\(counts)</ul>"
    }

    private var finding: Markup {
        .section(
            "finding", "Find a customer",
            """
            <p>Enter one of these:</p>
            <ul>
            <li>the customer's id, or its beginning</li>
            <li>a transaction or a purchase, such as 2000000123 or apple:2000000123</li>
            <li>an order, an account token, a grant, an event</li>
            <li>the ticket of a grant</li>
            </ul>
            <p>Both environments are searched. <kbd>/</kbd> jumps to the search box, and <kbd>?</kbd> shows all keys.</p>
            """)
    }
}

extension JSON {
    /// Whether the webhook in this answer has events that should have arrived already.
    var isLate: Bool {
        self["state"]?.string != "active" || (self["waiting"]?.integer ?? 0) > 0
            || (self["parked"]?.integer ?? 0) > 0
    }
}
