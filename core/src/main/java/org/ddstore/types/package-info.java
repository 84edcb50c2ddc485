// SPDX-License-Identifier: Apache-2.0
/** Value types and exceptions that every other package shares. */
package org.ddstore.types;
