extension EventBus {
  /// The event that a post exceeded the nesting limit and was refused; it is posted once the outermost post has
  /// returned.
  ///
  /// The bus that refused the post posts it. Of several refused posts inside one outermost post only the first is
  /// reported. A post that is refused inside a handler of `PostRefused`, ``EventBus/Undelivered`` or
  /// ``EventBus/HandlerFailure`` is not reported, so that reports cannot cause reports without end.
  public struct PostRefused: BusEvent {
    /// The names of the nested events, outermost first; the refused event is the last.
    public let chain: [EventName]
  }
}
