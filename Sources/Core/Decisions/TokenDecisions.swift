/// A request to assign all purchases that carry a certain token to the customer.
package struct RegisterToken: Hashable, Sendable {
    package let token: AccountToken

    package init(token: AccountToken) {
        self.token = token
    }
}

extension CustomerState {
    package static let tokenLimit = 100

    /// Registers the token. Does nothing if the customer already has it.
    package func decide(_ wish: RegisterToken) throws(Refusal) -> [Event] {
        if isNamed(by: wish.token.text) { return [] }
        if tokens.count >= CustomerState.tokenLimit {
            throw .token(.tooMany(limit: CustomerState.tokenLimit))
        }
        return [.tokenRegistered(TokenRegistered(token: wish.token))]
    }

    /// Returns whether the customer's own events show that purchases with the token belong to the customer.
    package func isNamed(by token: String) -> Bool {
        tokens.contains { $0.text == token } || orders.contains { $0.opened.token.text == token }
    }
}
