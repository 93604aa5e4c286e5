import Core
import HTTPServer

/// The page that a person sees first: the list of projects.
enum StartPage {
    static func response(for visitor: Visitor) -> Response {
        let roles = visitor.signedIn.roles
        if roles.count == 1 { return .seeOther(.project(roles[0].project)) }
        let items: [Markup] = roles.map {
            "<li>\(Markup.link(.project($0.project), $0.project.text)) as \($0.role.rawValue)</li>"
        }
        let content: Markup =
            roles.isEmpty
            ? """
            <p class="notice">You have no role in any project. An operator can give you one with: deed person set</p>
            """ : "<ul>\(items)</ul>"
        return Page(title: "Projects", visitor: visitor, content: content).response()
    }
}
