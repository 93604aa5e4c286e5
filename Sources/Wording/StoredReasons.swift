package import Core

extension IntakeReason {
    package init(_ refusal: Refusal) {
        self.init(code: refusal.code, sentence: refusal.withRemedy)
    }

    package init(_ trouble: StoreTrouble) {
        self.init(code: trouble.code, sentence: trouble.withRemedy)
    }
}
