package org.ddstore.collective;

/** Processes of two hosts, which they take turns in. */
class MixedLanesJvmsTest extends GroupJvmsContract {
  MixedLanesJvmsTest() {
    super(Means.Kind.MIXED);
  }
}
