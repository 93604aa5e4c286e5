package import API
import Core
import HTTPServer
package import Service

/// Web pages under `/console` for people who support customers.
package struct Console: Sendable {
    private let keeper: Doorkeeper

    /// Creates the pages. `speaksTLS` is true if Deed itself serves them over HTTPS.
    package init(
        _ signIns: SignIns, _ calls: InnerCalls, _ refused: RefusedSignIns, speaksTLS: Bool,
        requiresSecondFactor: Bool = false
    ) {
        keeper = Doorkeeper(
            signIns, calls, refused, speaksTLS: speaksTLS,
            requiresSecondFactor: requiresSecondFactor)
    }

    package var pages: PageSurface {
        PageSurface(
            prefix: Place.prefix, refusal: { Console.page(of: $0, for: nil, nil).response($0) },
            routes: files + doors + rooms)
    }

    private var files: [PageRoute] {
        let style = PackageResources.style_css
        let script = PackageResources.script_js
        return [
            route("GET", "/style.css") { _ in .file(style, type: "text/css; charset=utf-8") },
            route("GET", "/script.js") { _ in
                .file(script, type: "text/javascript; charset=utf-8")
            },
        ]
    }

    private var doors: [PageRoute] {
        let (signIn, links) = (SignInPages(keeper: keeper), LinkPages(keeper: keeper))
        let (code, factor) = (CodePages(keeper: keeper), SecondFactorPages(keeper: keeper))
        return [
            route("GET", "/sign-in", signIn.form), route("POST", "/sign-in", signIn.signIn),
            route("GET", "/sign-in/code", code.form), route("POST", "/sign-in/code", code.finish),
            route("GET", "/your-sign-in", factor.form),
            route("POST", "/your-sign-in", factor.answer),
            route("POST", "/sign-out", signIn.signOut),
            route("GET", "/link/{secret}", links.form),
            route("POST", "/link/{secret}", links.choose),
            route("GET", "") { [keeper] visit throws(Turned) in
                StartPage.response(for: try keeper.visitor(of: visit))
            },
        ]
    }

    private var rooms: [PageRoute] {
        let acts = Act.all.flatMap { act in
            [
                room("GET", "/customers/{customer}\(act.pattern)") {
                    room, visit throws(Turned) in try ActPage(act, room, visit).form()
                },
                room("POST", "/customers/{customer}\(act.pattern)") {
                    room, visit throws(Turned) in try ActPage(act, room, visit).answer()
                },
            ]
        }
        return acts + operating + deciding + [
            room("GET", "") { room, _ in HomePage(room: room).response() },
            page("/find", FindPage.self), page("/trail", TrailPage.self),
            page("/customers/{customer}", CustomerPage.self, isHeavy: true),
        ]
    }

    /// The forms for unclaimed purchases, queued evidence and erasures.
    private var deciding: [PageRoute] {
        form("/customers/{customer}/erase", ErasePage.self) + [
            page("/customers/{customer}/evidence", EvidencePage.self, isHeavy: true),
            room(
                "GET", "/customers/{customer}/evidence/{evidence}/file", isHeavy: true,
                EvidencePage.file),
            room("GET", "/attach", AttachPlace.response),
            page("/intake", IntakePage.self), page("/intake/{id}", IntakeItemPage.self),
            room("POST", "/intake/{id}") { room, visit throws(Turned) in
                try IntakeItemPage(room, visit).act()
            },
        ]
    }

    /// Pages about the project itself.
    private var operating: [PageRoute] {
        let acts = WebhookPage.acts.map { act in
            room("POST", "/webhooks/{webhook}/\(act.name)") { room, visit throws(Turned) in
                try WebhookPage.act(act.name, room, visit)
            }
        }
        // The dry run of a catalog reads every customer.
        let catalog = form(
            "/catalog/edit", CatalogEditPage.self, bodyLimit: CatalogEditPage.bodyLimit,
            isHeavy: true)
        return acts + catalog + form("/settings/keys/{key}/revoke", KeyPage.self) + [
            room("GET", "/unclaimed") { room, visit throws(Turned) in
                try ListPage(.unclaimed, at: room.unclaimed, room, visit).response()
            },
            room("GET", "/refunds") { room, visit throws(Turned) in
                try ListPage(.refunds, at: room.refunds, room, visit).response()
            },
            page("/figures", FiguresPage.self),
            room("GET", "/figures/{figure}", FigureFile.response),
            room("GET", "/webhooks") { room, _ throws(Turned) in
                try WebhooksPage(room).response()
            },
            room("GET", "/webhooks/{webhook}") { room, visit throws(Turned) in
                try WebhookPage(room, visit).response()
            },
            page("/catalog", CatalogPage.self), page("/catalog/history", CatalogHistoryPage.self),
            room("GET", "/catalog/history/{change}", isHeavy: true, CatalogHistoryPage.past),
            page("/settings", SettingsPage.self),
        ]
    }

    /// Returns the route to a page that only shows something.
    private func page<Shown: ShownPage>(
        _ pattern: String, _ page: Shown.Type, isHeavy: Bool = false
    ) -> PageRoute {
        room("GET", pattern, isHeavy: isHeavy) { room, visit throws(Turned) in
            try Shown(room, visit).response()
        }
    }

    /// Returns the routes to a form and to the work that it requests.
    private func form<Form: FormPage>(
        _ pattern: String, _ page: Form.Type, bodyLimit: Int = PageRoute.bodyLimit,
        isHeavy: Bool = false
    ) -> [PageRoute] {
        [
            room("GET", pattern, isHeavy: isHeavy) { room, visit throws(Turned) in
                try Form(room, visit).form()
            },
            room("POST", pattern, bodyLimit: bodyLimit, isHeavy: isHeavy) {
                room, visit throws(Turned) in try Form(room, visit).answer()
            },
        ]
    }

    /// Returns a route to a page for visitors who have a role in the project. The first argument in the address
    /// is the project.
    private func room(
        _ method: String, _ pattern: String, bodyLimit: Int = PageRoute.bodyLimit,
        isHeavy: Bool = false,
        _ work: @escaping @Sendable (ProjectRoom, Visit) throws(Turned) -> Response
    ) -> PageRoute {
        route(method, "/p/{project}\(pattern)", bodyLimit: bodyLimit) {
            [keeper] visit throws(Turned) in
            if method != "GET" { try keeper.requireOwnPage(visit) }
            let visitor = try keeper.visitor(of: visit)
            if method != "GET" {
                try keeper.requireToken(Fields(form: visit.body), of: visitor)
            }
            let room = try keeper.room(for: visitor, in: visit.arguments[0])
            do throws(Turned) {
                if !isHeavy { return try work(room, visit) }
                return try keeper.heavyPages.make { () throws(Turned) in try work(room, visit) }
            } catch {
                return try Console.page(of: error, for: visitor, room)
            }
        }
    }

    private func route(
        _ method: String, _ pattern: String, bodyLimit: Int = PageRoute.bodyLimit,
        _ work: @escaping @Sendable (Visit) throws(Turned) -> Response
    ) -> PageRoute {
        PageRoute(
            method, pattern, bodyLimit: bodyLimit, room: { [keeper] in keeper.room(of: $0) }
        ) { [keeper] visit in
            do throws(Turned) {
                try keeper.requirePrivacy(visit)
                return try work(visit)
            } catch {
                return Console.answer(error, method, visit)
            }
        }
    }

    /// Returns the response to a visitor who is not signed in or whose request is refused.
    private static func answer(_ turned: Turned, _ method: String, _ visit: Visit) -> Response {
        switch turned {
        case .problem(let problem): page(of: problem, for: nil, nil).response(problem)
        case .notice(let status, let title, let sentence, headers: let headers):
            Page.notice(title, "\(sentence)").response(status: status, headers: headers)
        case .secondFactor where method == "GET": .seeOther(.yourSignIn)
        case .secondFactor:
            Page.notice(
                "Set up a second factor first",
                "Nothing was done. The operator requires a second factor. Set one up on your sign-in page."
            ).response(status: 403)
        case .signIn where method == "GET":
            .seeOther(Place.signIn.with("next", visit.place))
        case .signIn:
            Page.notice(
                "You are no longer signed in",
                "Nothing was done. Sign in, open the page again, and send the form from there."
            ).response(status: 401)
        }
    }

    /// Returns the response to a visitor who was turned away inside a project. Throws what only the
    /// caller can answer.
    private static func page(
        of turned: Turned, for visitor: Visitor, _ room: ProjectRoom
    ) throws(Turned) -> Response {
        switch turned {
        case .problem(let problem): page(of: problem, for: visitor, room).response(problem)
        case .notice(let status, let title, let sentence, headers: let headers):
            Page.notice(title, "\(sentence)", visitor, room)
                .response(status: status, headers: headers)
        case .signIn, .secondFactor: throw turned
        }
    }

    private static func page(
        of problem: Problem, for visitor: Visitor?, _ room: ProjectRoom?
    ) -> Page {
        let title = problem.status >= 500 ? "Deed cannot answer right now" : "That did not work"
        return .notice(title, problem.told(in: room), visitor, room)
    }
}

/// A page of a project that only shows something.
protocol ShownPage: SendableMetatype {
    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned)
    func response() throws(Turned) -> Response
}

/// A page of a project with a form, which the page also answers.
protocol FormPage: SendableMetatype {
    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned)
    func form() throws(Turned) -> Response
    func answer() throws(Turned) -> Response
}

extension Page {
    fileprivate func response(_ problem: Problem) -> Response {
        response(status: problem.status, headers: problem.headers)
    }
}
