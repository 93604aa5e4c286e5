import API
import Core
import HTTPServer
import Service
import Synchronization

/// Checks the cookies of visitors, and the pages that forms are sent from.
final class Doorkeeper: Sendable {
    /// The maximum number of recently valid cookies to remember.
    private static let limit = 1000

    let signIns: SignIns
    let calls: InnerCalls
    /// Counts and logs attempts to sign in.
    let refused: RefusedSignIns
    /// Whether people without a second factor see only the page that sets one up.
    let requiresSecondFactor: Bool
    let heavyPages = HeavyPages()
    private let speaksTLS: Bool
    /// Recently valid cookies. These only determine the queue in which a visitor waits.
    private let seen = Mutex<Set<String>>([])

    init(
        _ signIns: SignIns, _ calls: InnerCalls, _ refused: RefusedSignIns, speaksTLS: Bool,
        requiresSecondFactor: Bool
    ) {
        self.signIns = signIns
        self.calls = calls
        self.refused = refused
        self.speaksTLS = speaksTLS
        self.requiresSecondFactor = requiresSecondFactor
    }

    /// Returns whether the browser uses HTTPS, either to Deed itself or to a trusted proxy.
    private func isSecure(_ visit: Visit) -> Bool { speaksTLS || visit.way == .proxy }

    /// Throws if others could read the request in transit.
    func requirePrivacy(_ visit: Visit) throws(Turned) {
        if !isSecure(visit), visit.way == .network { throw .readable }
    }

    /// Returns the cookie's name. Browsers accept the prefix only together with `Secure`, which does not work over
    /// plain HTTP.
    private func cookieName(_ visit: Visit) -> String {
        isSecure(visit) ? "__Host-deed" : "deed-console"
    }

    func cookie(of visit: Visit) -> String? { visit.cookie(cookieName(visit)) }

    /// Returns the cookie of a browser that has given the right password but no code. This cookie
    /// gives access to no page.
    func begunCookie(of visit: Visit) -> String? { visit.cookie(cookieName(visit) + "-code") }

    /// Tells the browser to keep the cookie until the browser is closed, or to delete it.
    func setCookie(_ value: String?, for visit: Visit) -> Header {
        setCookie(cookieName(visit), value, visit)
    }

    func setBegunCookie(_ value: String?, for visit: Visit) -> Header {
        setCookie(cookieName(visit) + "-code", value, visit)
    }

    private func setCookie(_ name: String, _ value: String?, _ visit: Visit) -> Header {
        Header(
            "Set-Cookie",
            "\(name)=\(value ?? ""); Path=/; HttpOnly; SameSite=Strict"
                + (isSecure(visit) ? "; Secure" : "") + (value == nil ? "; Max-Age=0" : ""))
    }

    /// Signs a person in with a new cookie, and shows the page that the person asked for.
    func enter(_ cookie: String, _ next: String?, _ visit: Visit) throws(Turned) -> Response {
        // Ends the old session, because other people may know its cookie.
        if let old = self.cookie(of: visit) {
            try asking { () throws(Fault) in try signIns.signOut(old) }
        }
        let begun = begunCookie(of: visit).map { _ in setBegunCookie(nil, for: visit) }
        return Response(
            status: 303,
            headers: [Header("Location", next ?? Place.start.text)] + Page.guards
                + [setCookie(cookie, for: visit)] + (begun.map { [$0] } ?? []))
    }

    /// Returns the room in which the visitor waits. Signed-in visitors do not wait behind strangers.
    func room(of visit: Visit) -> Room {
        guard let cookie = cookie(of: visit) else { return .strangers }
        return seen.withLock { $0.contains(cookie) } ? .known : .strangers
    }

    /// Throws unless the visitor is signed in, with a second factor if one is required. The pages for signing out and
    /// for setting up a second factor do not require one.
    func visitor(of visit: Visit, isSettingUp: Bool = false) throws(Turned) -> Visitor {
        guard let cookie = cookie(of: visit) else { throw .signIn }
        let found: SignedIn?
        do throws(Fault) {
            found = try signIns.session(cookie)
        } catch {
            throw .problem(Problem(error))
        }
        seen.withLock { seen in
            seen.remove(cookie)
            if found == nil { return }
            if seen.count >= Doorkeeper.limit { seen = [] }
            seen.insert(cookie)
        }
        guard let found else { throw .signIn }
        if requiresSecondFactor, !found.hasSecondFactor, !isSettingUp { throw .secondFactor }
        return Visitor(signedIn: found, formToken: signIns.formToken(of: cookie))
    }

    /// Throws unless the visitor has a role in the project.
    func room(
        for visitor: Visitor, in project: String
    ) throws(Turned) -> ProjectRoom {
        guard let project = try? ProjectID(project),
            let role = visitor.signedIn.role(in: project)
        else { throw .notYours }
        return ProjectRoom(
            visitor: visitor,
            caller: PersonCaller(
                person: visitor.signedIn.person, project: project, role: role), keeper: self)
    }

    /// Throws unless the form was sent from a page at this address. Browsers state a form's origin, and pages cannot
    /// forge it.
    func requireOwnPage(_ visit: Visit) throws(Turned) {
        if let site = visit.header("Sec-Fetch-Site") {
            guard site == "same-origin" else { throw .noForm }
            return
        }
        guard let origin = visit.header("Origin"), let host = visit.header("Host") else {
            throw .noForm
        }
        let scheme = isSecure(visit) ? "https" : "http"
        guard origin == "\(scheme)://\(host)" else { throw .noForm }
    }

    /// Throws unless the form contains the token of the visitor's session.
    func requireToken(_ fields: Fields, of visitor: Visitor) throws(Turned) {
        let (given, own) = (Array((fields["form"] ?? "").utf8), Array(visitor.formToken.utf8))
        var difference = given.count ^ own.count
        for place in 0..<min(given.count, own.count) {
            difference |= Int(given[place] ^ own[place])
        }
        guard difference == 0 else { throw .noForm }
    }
}
