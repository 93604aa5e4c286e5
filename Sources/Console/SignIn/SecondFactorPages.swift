import API
import Core
import HTTPServer
import QRCode
import Service

/// The page on which a signed-in person sets up, renews and removes the second factor. Each of its forms asks for the
/// password again.
struct SecondFactorPages: Sendable {
    let keeper: Doorkeeper

    func form(_ visit: Visit) throws(Turned) -> Response {
        try page(keeper.visitor(of: visit, isSettingUp: true)).response()
    }

    private func page(_ visitor: Visitor, trouble: String? = nil) throws(Turned) -> Page {
        let left = try asking { () throws(Fault) in
            try keeper.signIns.factors.emergencyCodesLeft(of: visitor.signedIn.person)
        }
        let alert = Markup.alert(trouble)
        let form = left.map { renewal(visitor, codesLeft: $0) } ?? setUp(visitor)
        return Page(title: "Your sign-in", visitor: visitor, content: "\(alert)\n\(form)")
    }

    private func setUp(_ visitor: Visitor) -> Markup {
        let demand: Markup =
            keeper.requiresSecondFactor
            ? "<p class=\"notice\">The operator requires a second factor. Set one up to see the other pages.</p>"
            : .nothing
        return """
            \(demand)
            <p>With a second factor, signing in also requires a code from an app on your phone. A person who knows only your password can then not sign in.</p>
            \(card(visitor, ["<button name=\"do\" value=\"offer\">Set up a second factor</button>"]))
            """
    }

    private func renewal(_ visitor: Visitor, codesLeft: Int) -> Markup {
        let removal: Markup =
            keeper.requiresSecondFactor
            ? .nothing
            : "<button class=\"danger\" name=\"do\" value=\"remove\">Turn it off</button>"
        let fields: [Markup] = [
            Markup.codeField(label: "Code, or an emergency code"),
            """
            <p class="acts"><button name="do" value="codes">Make new emergency codes</button>
            <button name="do" value="offer">Use another app</button>
            \(removal)</p>
            """,
        ]
        return """
            <p>Your second factor is on. Emergency codes left: \(codesLeft).</p>
            \(card(visitor, fields))
            """
    }

    private func card(_ visitor: Visitor, _ fields: [Markup]) -> Markup {
        """
        <form class="card" method="post" action="\(value: Place.yourSignIn.text)">
        \(visitor.token)
        <p><label for="password">Your password</label>
        <input id="password" name="password" type="password" required autocomplete="current-password"></p>
        \(fields)
        </form>
        """
    }

    func answer(_ visit: Visit) throws(Turned) -> Response {
        try keeper.requireOwnPage(visit)
        let visitor = try keeper.visitor(of: visit, isSettingUp: true)
        let fields = Fields(form: visit.body)
        try keeper.requireToken(fields, of: visitor)
        guard let cookie = keeper.cookie(of: visit) else { throw .signIn }
        let change = Change(keeper: keeper, visitor: visitor, cookie: cookie, visit: visit)
        let act = fields["do"]
        if act == "prove" { return try change.prove(fields) }
        let refusal = try asking { () throws(Fault) in
            try keeper.signIns.confirm(
                visitor.signedIn, fields["password"] ?? "", fields["code"] ?? "",
                from: visit.client?.description ?? "")
        }
        if let refusal {
            keeper.note(refusal, of: visit)
            let told =
                refusal.refusal
                ?? (
                    403, "The password or the code is wrong, or the code has already been used.", []
                )
            return try page(visitor, trouble: told.sentence)
                .response(status: told.status, headers: told.headers)
        }
        switch act {
        case "offer": return try change.offer()
        case "codes" where visitor.signedIn.hasSecondFactor: return try change.renewCodes()
        case "remove" where !keeper.requiresSecondFactor: return try change.remove()
        default: throw .noForm
        }
    }
}

/// A change that a person makes after confirming the password.
private struct Change {
    let keeper: Doorkeeper
    let visitor: Visitor
    let cookie: String
    let visit: Visit

    private var person: PersonID { visitor.signedIn.person }

    private static let tooLate = Turned.notice(
        403, "Nothing was done",
        "The code arrived too late, or the second factor has changed. Open your sign-in page again."
    )

    func offer() throws(Turned) -> Response {
        let offer = try asking { () throws(Fault) in
            try keeper.signIns.factors.offer(to: person, in: cookie)
        }
        return page(offer).response()
    }

    func prove(_ fields: Fields) throws(Turned) -> Response {
        let offer = try asking { () throws(Fault) in
            try keeper.signIns.factors.offer(fields["offer"] ?? "", to: person, in: cookie)
        }
        guard let offer else {
            throw Change.tooLate
        }
        let codes = try asking { () throws(Fault) in
            try keeper.signIns.factors.take(
                offer, proving: fields["code"] ?? "", by: person, in: cookie)
        }
        guard let codes else { return page(offer, trouble: CodePages.wrong).response(status: 403) }
        note("set_up")
        return page(codes)
    }

    func renewCodes() throws(Turned) -> Response {
        let codes = try asking { () throws(Fault) in
            try keeper.signIns.factors.renewEmergencyCodes(of: person)
        }
        note("emergency_codes_renewed")
        return page(codes)
    }

    func remove() throws(Turned) -> Response {
        let isRemoved = try asking { () throws(Fault) in
            try keeper.signIns.factors.remove(of: person, in: cookie)
        }
        guard isRemoved else { throw Change.tooLate }
        note("removed")
        return .seeOther(.yourSignIn)
    }

    private func note(_ change: String) {
        keeper.refused.note(secondFactor: change, of: person, from: visit.client)
    }

    private func page(_ offer: SecondFactorOffer, trouble: String? = nil) -> Page {
        let secret = offer.text
        let email = percentEncoded(visitor.signedIn.email.text)
        let uri =
            "otpauth://totp/Deed:\(email)?secret=\(secret)&issuer=Deed&algorithm=SHA1&digits=6&period=30"
        let groups = stride(from: 0, to: secret.count, by: 4)
            .map { String(secret.dropFirst($0).prefix(4)) }.joined(separator: " ")
        let alert = Markup.alert(trouble)
        return Page(
            title: "Set up a second factor", visitor: visitor,
            content: """
                \(alert)
                <form class="card" method="post" action="\(value: Place.yourSignIn.text)">
                \(visitor.token)
                <input type="hidden" name="do" value="prove">
                <input type="hidden" name="offer" value="\(value: offer.sealed)">
                <p>Scan this with an app that generates codes, or type the secret into it. The second factor is on once you enter the code that the app shows.</p>
                <p>\(QRCode(uri)?.drawing ?? .nothing)</p>
                \(Markup.terms([("Secret", .code(groups)), ("As a link", .code(uri))]))
                \(Markup.codeField(label: "Code"))
                <p><button>Turn it on</button></p>
                </form>
                """)
    }

    private func page(_ codes: [String]) -> Response {
        let items: [Markup] = codes.map { "<li>\(Markup.code($0))</li>" }
        return Page(
            title: "Your emergency codes", visitor: visitor,
            content: """
                <p class="notice">They are shown only now. Keep them where you find them without your phone. Each one works once, instead of a code.</p>
                <ol>\(items)</ol>
                <p><a href="/console">Go on</a></p>
                """
        ).response()
    }
}

extension QRCode {
    /// The code as a drawing: dark on light in every theme, with the margin that cameras need.
    fileprivate var drawing: Markup {
        let side = size + 8
        let rows: [Markup] = (0..<size).flatMap { row in
            darkRanges(in: row).map { columns in
                "M\(columns.lowerBound + 4) \(row + 4)h\(columns.count)v1h-\(columns.count)z"
            }
        }
        return """
            <svg class="qr" viewBox="0 0 \(side) \(side)" role="img" aria-label="The secret as a QR code"><rect width="\(side)" height="\(side)" fill="#fff"/><path fill="#000" shape-rendering="crispEdges" d="\(rows)"/></svg>
            """
    }
}
