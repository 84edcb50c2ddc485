package org.ddstore.contract;

interface CollectiveContract extends Contract {}
