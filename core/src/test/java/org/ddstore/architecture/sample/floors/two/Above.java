package org.ddstore.architecture.sample.floors.two;

import org.ddstore.architecture.sample.floors.one.Below;

/** Knows the package below. */
public record Above(Below below) {}
