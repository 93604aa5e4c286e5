import Core
import HTTPServer

/// A complete page.
struct Page {
    let title: String
    /// The person who views the page; `nil` if unknown.
    var visitor: Visitor?
    /// The project that the page is about.
    var room: ProjectRoom?
    /// The text in the search box.
    var sought = ""
    let content: Markup

    private var head: Markup {
        """
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title) - Deed</title>
        <link rel="stylesheet" href="/console/style.css">
        <script type="module" src="/console/script.js"></script>
        </head>
        """
    }

    private var search: Markup {
        guard let room else { return .nothing }
        return """
            <form class="search" role="search" method="get" action="\(value: room.find.text)">
            <label for="q">Find a customer</label>
            <input id="q" name="q" type="search" required maxlength="1024" autocomplete="off" spellcheck="false"
             value="\(value: sought)" aria-keyshortcuts="/">
            <button>Find</button>
            </form>
            """
    }

    private var places: Markup {
        guard let room else { return .nothing }
        let places: [(path: String, place: Place, words: String)] = [
            ("/figures", room.figures, "Figures"), ("/unclaimed", room.unclaimed, "Unclaimed"),
            ("/refund_requests", room.refunds, "Refunds"),
            ("/intake", room.intake, "Intake"), ("/webhooks", room.webhooks, "Webhooks"),
            ("/catalog", room.catalog, "Catalog"),
            ("/settings", room.settings, "Settings"), ("/trail", room.trail, "Trail"),
        ]
        let links =
            [Markup.link(room.home, room.project.text)]
            + places.filter { room.maySee($0.path) }.map { .link($0.place, $0.words) }
        return "<nav aria-label=\"Project\">\(links)</nav>"
    }

    private var person: Markup {
        guard let visitor else { return .nothing }
        let role: Markup =
            room.map { "<span class=\"role\">\($0.role.rawValue)</span>" } ?? .nothing
        return """
            <form class="person" method="post" action="\(value: Place.signOut.text)">
            \(visitor.token)
            \(Markup.link(.yourSignIn, visitor.signedIn.email.text)) \(role)
            <button class="quiet">Sign out</button>
            </form>
            """
    }

    private var markup: Markup {
        """
        <!doctype html>
        <html lang="en">
        \(head)
        <body>
        <a class="skip" href="#main">Skip to content</a>
        <header>
        <p class="brand"><a href="/console">Deed</a></p>
        \(places)
        \(search)
        \(person)
        </header>
        <main id="main" tabindex="-1">
        <h1>\(title)</h1>
        \(content)
        </main>
        </body>
        </html>
        """
    }

    func response(status: Int = 200, headers: [Header] = []) -> Response {
        Response(
            status: status,
            headers: [Header("Content-Type", "text/html; charset=utf-8")] + Page.guards + headers,
            body: Array(markup.html.utf8))
    }

    /// Headers that tell the browser what to block.
    static let guards = [
        Header(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
                + "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
                + "base-uri 'none'"),
        Header("X-Content-Type-Options", "nosniff"),
        Header("Referrer-Policy", "no-referrer"),
        Header("Cache-Control", "no-store"),
    ]
}

extension Page {
    /// Returns a page with only a title and a sentence.
    static func notice(
        _ title: String, _ sentence: Markup, _ visitor: Visitor? = nil, _ room: ProjectRoom? = nil
    ) -> Page {
        Page(
            title: title, visitor: visitor, room: room,
            content: """
                <p class="notice" role="alert">\(sentence)</p>
                <p><a href="/console">Go to the start page</a></p>
                """)
    }
}

extension Markup {
    /// Returns a message about why a form was refused, or nothing if it was not.
    static func alert(_ trouble: String?) -> Markup {
        alert(trouble.map { (words) -> Markup in "\(words)" })
    }

    static func alert(_ trouble: Markup?) -> Markup {
        trouble.map { "<p class=\"notice\" role=\"alert\">\($0)</p>" } ?? .nothing
    }
}

extension Response {
    /// Redirects the browser to another place, which the browser then requests with `GET`.
    static func seeOther(_ place: Place, headers: [Header] = []) -> Response {
        Response(
            status: 303, headers: [Header("Location", place.text)] + Page.guards + headers)
    }

    /// Returns a response with one of the console's files.
    static func file(_ bytes: [UInt8], type: String) -> Response {
        Response(status: 200, headers: [Header("Content-Type", type)] + Page.guards, body: bytes)
    }
}
