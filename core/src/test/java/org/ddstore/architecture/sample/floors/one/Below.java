package org.ddstore.architecture.sample.floors.one;

/** Knows no other package. */
public final class Below {}
