extension Array {
    /// Returns the elements in order, `size` at a time.
    package func pages(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
