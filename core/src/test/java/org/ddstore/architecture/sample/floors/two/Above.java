// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture.sample.floors.two;

import org.ddstore.architecture.sample.floors.one.Below;

/** Knows the package below. */
public record Above(Below below) {}
