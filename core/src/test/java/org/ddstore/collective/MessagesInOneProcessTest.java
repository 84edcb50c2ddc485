package org.ddstore.collective;

/** Ranks of one process without shortcut: its messages go to itself. */
class MessagesInOneProcessTest extends NetworkContract {
  @Override
  LaneExchange newExchange(SocketMessenger messenger) {
    return LaneExchange.overMessages(messenger);
  }

  @Override
  int processOf(int rank) {
    return 0;
  }
}
