// SPDX-License-Identifier: Apache-2.0
/** Example programs. */
package org.ddstore.examples;
